package org.cloister.host.ledger;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.host.vm.VmOwner;

/**
 * What to do next for the VMs of this host, from the ledger and what is there, without a clock. Unknown is not absent: a VM
 * ends for a part that is known to be gone, and its entry goes when all are. What is not ours is in no action.
 */
final class Course {
    private static final List<Part> DOWN = down();
    /** That a VM which goes on has to have; a port is made again. */
    private static final Set<Part> VITAL = EnumSet.complementOf(EnumSet.of(Part.PORT));

    /**
     * The ledger, around the time when the sources were asked.
     *
     * @param entries before: what they say may be gone was not made since
     * @param building UUIDs of those that this process was building before; they are left to it
     * @param after entries: what is new is no orphan
     * @param died UUIDs of domains of which the hypervisor has told that they did
     */
    record Books(List<Entry> entries, Set<String> building, List<Entry> after, Set<String> died) {}

    private final Books books;
    private final Seen seen;
    private final Matching matching;
    private final Times times;
    private final long nowMs;
    private final List<Action> actions = new ArrayList<>();

    private Course(Books books, Seen seen, Times times, long nowMs) {
        this.books = books;
        this.seen = seen;
        this.matching = new Matching(books.entries, seen);
        this.times = times;
        this.nowMs = nowMs;
    }

    /**
     * Call it only when every source has answered once since the start.
     *
     * @param nowMs since the epoch
     */
    static List<Action> next(Books books, Seen seen, Times times, long nowMs) {
        Course course = new Course(books, seen, times, nowMs);
        for (Entry entry : books.entries) {
            if (entry.isEnding()) {
                entry.end().ifPresent(end -> course.takeAway(entry, end));
            } else if (!books.building.contains(entry.owner().uuid())) {
                course.follow(entry);
            }
        }
        course.adopt();
        return List.copyOf(course.actions);
    }

    private void follow(Entry entry) {
        if (!entry.hasBegun(Step.RUNNING)) {
            finish(entry, End.Why.INTERRUPTED, entry.step().name());
            return;
        }
        for (Part part : DOWN) {
            if (VITAL.contains(part) && entry.has(part) && isGone(entry, part)) {
                finish(entry, part == Part.DOMAIN ? withoutDomain(entry) : End.Why.LOST, part.name());
                return;
            }
        }
        Optional<Thing> domain = matching.find(entry, Part.DOMAIN);
        if (domain.isPresent()
                && seen.inStep().isKnown()
                && !seen.inStep().all().contains(entry.owner().uuid())) {
            finish(entry, End.Why.STEP_GONE, "");
        } else if (domain.isPresent() && !domain.get().runs() && entry.step() == Step.REGISTERED) {
            finish(entry, End.Why.STOPPED, "");
        } else if (entry.step() == Step.RUNNING && times.isOverdue(entry, nowMs)) {
            finish(entry, End.Why.NOT_REGISTERED, "");
        } else {
            mend(entry, domain);
        }
    }

    /** A port may be gone with the whole database, and a guest may not have begun when the daemon was killed. */
    private void mend(Entry entry, Optional<Thing> domain) {
        if (isGone(entry, Part.PORT)) {
            actions.add(new Action.Reopen(entry.owner()));
        }
        if (domain.isPresent() && !domain.get().runs()) {
            actions.add(new Action.Resume(entry.owner()));
        }
    }

    private End.Why withoutDomain(Entry entry) {
        return books.died.contains(entry.owner().uuid()) ? End.Why.DIED : End.Why.DOMAIN_GONE;
    }

    private boolean isGone(Entry entry, Part part) {
        return seen.knows(part) && matching.find(entry, part).isEmpty();
    }

    private void finish(Entry entry, End.Why why, String at) {
        actions.add(new Action.Finish(entry.owner(), new End(why, at, nowMs)));
    }

    /** From the domain down. Below a part of which nothing is known, all waits: a domain may still have its disk open. */
    private void takeAway(Entry entry, End end) {
        if (books.building.contains(entry.owner().uuid())) {
            return; // Who builds it sees the end at the next step.
        }
        boolean nothing = true;
        for (Part part : DOWN) {
            if (!seen.knows(part)) {
                return;
            }
            Optional<Thing> thing = matching.find(entry, part);
            if (thing.isEmpty()) {
                continue;
            }
            nothing = false;
            boolean asked = part == Part.DOMAIN && thing.get().runs() && end.why() == End.Why.ASKED;
            if (asked && times.isPatient(end, nowMs)) {
                actions.add(new Action.AskOff(entry.owner()));
                return;
            }
            actions.add(asked ? new Action.CutOff(entry.owner()) : new Action.Remove(entry.owner(), part));
        }
        if (nothing) {
            actions.add(new Action.Forget(entry.owner(), end));
        }
    }

    /** What has no entry had one that was lost: a whole VM goes on, and of any other the rest is taken away. */
    private void adopt() {
        if (!seen.knowsAll()) {
            return;
        }
        for (Map.Entry<VmOwner, Set<Part>> each : matching.orphans(books.after).entrySet()) {
            boolean scratch = each.getValue().contains(Part.SCRATCH);
            Entry entry = Entry.claim(each.getKey(), scratch, nowMs);
            actions.add(new Action.Adopt(
                    isWhole(each.getKey(), each.getValue())
                            ? entry.at(Step.RUNNING)
                            : entry.ending(new End(End.Why.ORPHAN, "", nowMs))));
        }
    }

    private boolean isWhole(VmOwner owner, Set<Part> parts) {
        Thing domain = new Thing(Part.DOMAIN, Part.DOMAIN.nameOf(owner), Optional.of(owner), true);
        return seen.all(Part.DOMAIN).contains(domain)
                && parts.containsAll(EnumSet.complementOf(EnumSet.of(Part.SCRATCH)))
                && seen.inStep().all().contains(owner.uuid());
    }

    private static List<Part> down() {
        List<Part> parts = new ArrayList<>(List.of(Part.values()));
        Collections.reverse(parts);
        return List.copyOf(parts);
    }
}
