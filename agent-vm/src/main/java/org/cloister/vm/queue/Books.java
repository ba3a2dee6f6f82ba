package org.cloister.vm.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.vm.slurm.JobId;

/** The ledger's tickets at work. What is changed is on the drive before anything that follows from it is done. */
final class Books {
    private final Ledger ledger;
    private final Map<String, Tracked> tickets = new LinkedHashMap<>();
    private final Map<JobId, Tracked> newest = new HashMap<>();
    private final Map<String, Entry> changed = new LinkedHashMap<>();
    private final List<String> dropped = new ArrayList<>();
    private final List<Runnable> afterwards = new ArrayList<>();

    /** @param now when the ledger was opened */
    Books(Ledger ledger, Moment now) {
        this.ledger = ledger;
        ledger.entries().forEach(entry -> add(new Tracked(entry, now)));
    }

    private void add(Tracked ticket) {
        tickets.put(ticket.entry.ticket(), ticket);
        newest.merge(ticket.entry.job(), ticket, (a, b) -> a.entry.attempt() > b.entry.attempt() ? a : b);
    }

    Collection<Tracked> all() {
        return List.copyOf(tickets.values());
    }

    Optional<Tracked> ticket(String id) {
        return Optional.ofNullable(tickets.get(id));
    }

    /** A job's last ticket. */
    Optional<Tracked> newest(JobId job) {
        return Optional.ofNullable(newest.get(job));
    }

    boolean isNewest(Tracked ticket) {
        return newest.get(ticket.entry.job()) == ticket;
    }

    /** Tickets of which the workers may still have something, which is what quota counts; their nodes rest in Slurm after that. */
    int inFlight() {
        return (int) tickets.values().stream()
                .filter(each -> each.entry.stage() != Entry.Stage.GONE && !each.heard.ended())
                .count();
    }

    /** @param then runs when it is on the drive */
    void begin(Entry entry, Moment now, Runnable then) {
        add(new Tracked(entry, now));
        changed.put(entry.ticket(), entry);
        afterwards.add(then);
    }

    void change(Tracked ticket, Entry to) {
        ticket.entry = to;
        changed.put(to.ticket(), to);
    }

    void change(Tracked ticket, Entry to, Runnable then) {
        change(ticket, to);
        afterwards.add(then);
    }

    void drop(Tracked ticket) {
        String id = ticket.entry.ticket();
        tickets.remove(id);
        newest.remove(ticket.entry.job(), ticket);
        changed.remove(id);
        dropped.add(id);
    }

    /** Writes what was changed, in one piece, then does what waited for it. */
    void flush() {
        List<Entry> entries = List.copyOf(changed.values());
        changed.clear();
        ledger.put(entries);
        ledger.drop(List.copyOf(dropped));
        dropped.clear();
        List<Runnable> now = List.copyOf(afterwards);
        afterwards.clear();
        now.forEach(Runnable::run);
    }
}
