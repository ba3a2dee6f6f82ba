package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;

/** The active tickets of the journal. A change is on the drive before any action that follows from it. */
final class QueueTickets {
    private final QueueJournal journal;
    private final Map<String, ActiveTicket> tickets = new LinkedHashMap<>();
    private final Map<LocalSlurmJobId, ActiveTicket> newest = new HashMap<>();
    private final Map<String, JobTicket> changed = new LinkedHashMap<>();
    private final List<String> dropped = new ArrayList<>();
    private final List<Runnable> followUps = new ArrayList<>();

    /** @param now time at which the journal was opened */
    QueueTickets(QueueJournal journal, ClockReading now) {
        this.journal = journal;
        journal.entries().forEach(entry -> add(new ActiveTicket(entry, now)));
    }

    private void add(ActiveTicket ticket) {
        tickets.put(ticket.entry.ticket(), ticket);
        newest.merge(ticket.entry.job(), ticket, (a, b) -> a.entry.attempt() > b.entry.attempt() ? a : b);
    }

    Collection<ActiveTicket> all() {
        return List.copyOf(tickets.values());
    }

    Optional<ActiveTicket> find(String id) {
        return Optional.ofNullable(tickets.get(id));
    }

    /** Returns a job's last ticket. */
    Optional<ActiveTicket> newest(LocalSlurmJobId job) {
        return Optional.ofNullable(newest.get(job));
    }

    boolean isNewest(ActiveTicket ticket) {
        return newest.get(ticket.entry.job()) == ticket;
    }

    /**
     * Returns the number of tickets of which the workers may still have something, which is what the quota counts;
     * after that their nodes' cooldown in Slurm follows.
     */
    int inFlight() {
        return (int) tickets.values().stream()
                .filter(each -> each.entry.stage() != JobTicket.Stage.GONE && !each.reports.isEnded())
                .count();
    }

    /** @param followUp runs when the ticket is on the drive */
    void create(JobTicket entry, ClockReading now, Runnable followUp) {
        add(new ActiveTicket(entry, now));
        changed.put(entry.ticket(), entry);
        followUps.add(followUp);
    }

    void update(ActiveTicket ticket, JobTicket to) {
        ticket.entry = to;
        changed.put(to.ticket(), to);
    }

    void update(ActiveTicket ticket, JobTicket to, Runnable followUp) {
        update(ticket, to);
        followUps.add(followUp);
    }

    void remove(ActiveTicket ticket) {
        String id = ticket.entry.ticket();
        tickets.remove(id);
        newest.remove(ticket.entry.job(), ticket);
        changed.remove(id);
        dropped.add(id);
    }

    /** Writes all changes in one piece, then runs the actions that waited for it. */
    void flush() {
        List<JobTicket> entries = List.copyOf(changed.values());
        changed.clear();
        journal.put(entries);
        journal.drop(List.copyOf(dropped));
        dropped.clear();
        List<Runnable> now = List.copyOf(followUps);
        followUps.clear();
        now.forEach(Runnable::run);
    }
}
