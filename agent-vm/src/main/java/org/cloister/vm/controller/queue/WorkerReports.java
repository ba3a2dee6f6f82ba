package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** The workers' reports on one ticket since this process started. An event may arrive twice, and an old one late. */
final class WorkerReports {
    private boolean hasReport;
    private OptionalInt slots = OptionalInt.empty();
    private final Map<Integer, String> ready = new HashMap<>();
    private final Set<Integer> gone = new HashSet<>();
    private final Map<Integer, WorkerPhase> reached = new HashMap<>();
    private final Map<WorkerPhase, Duration> slowest = new EnumMap<>(WorkerPhase.class);
    private Optional<EndReason> failureReason = Optional.empty();
    private boolean ended;
    private boolean endedWithoutReport;
    private long allocatedMs;
    private long readyMs;
    private long endedMs;

    /** @param nowMs {@link ClockReading#elapsedMs} */
    void apply(WorkerEvent event, long nowMs) {
        boolean first = !hasReport;
        hasReport = true;
        if (event instanceof WorkerEvent.Allocated allocated) {
            allocatedMs = slots.isPresent() ? allocatedMs : nowMs;
            slots = OptionalInt.of(allocated.slots());
        } else if (event instanceof WorkerEvent.Passed passed) {
            reached.merge(passed.slot(), passed.phase(), (a, b) -> a.compareTo(b) > 0 ? a : b);
            slowest.merge(passed.phase(), passed.took(), (a, b) -> a.compareTo(b) > 0 ? a : b);
        } else if (event instanceof WorkerEvent.NodeReady node) {
            if (!gone.contains(node.slot()) && ready.put(node.slot(), node.node()) == null) {
                readyMs = nowMs;
            }
        } else if (event instanceof WorkerEvent.NodeGone node) {
            gone.add(node.slot());
            failureReason = failureReason.or(() -> Optional.of(node.reason()));
        } else if (event instanceof WorkerEvent.Refused refused) {
            failureReason = failureReason.or(() -> Optional.of(refused.reason()));
            recordEnd(nowMs);
        } else if (event instanceof WorkerEvent.Ended end) {
            endedWithoutReport = first;
            failureReason = failureReason.or(() -> Optional.of(end.reason()));
            recordEnd(nowMs);
        }
    }

    /** Returns whether the workers know the ticket, or have reported that they do not. */
    boolean hasReport() {
        return hasReport;
    }

    private void recordEnd(long nowMs) {
        endedMs = ended ? endedMs : nowMs;
        ended = true;
    }

    /** Returns the number of slots; empty until the site has allocated nodes. */
    OptionalInt slots() {
        return slots;
    }

    long allocatedMs() {
        return allocatedMs;
    }

    int readySlots() {
        return ready.size();
    }

    /** Returns names of nodes by slot, including those that are gone. */
    Map<Integer, String> ready() {
        return Map.copyOf(ready);
    }

    /** Returns names of nodes that had been ready and whose VM is gone while the ticket continues. */
    Set<String> goneNodes() {
        Set<String> names = new HashSet<>();
        ready.forEach((slot, name) -> {
            if (gone.contains(slot)) {
                names.add(name);
            }
        });
        return names;
    }

    /** Returns when the last node became ready for the first time. */
    long readyMs() {
        return readyMs;
    }

    /** Returns what permanently prevents the ticket from having all its nodes; the first of several reasons. */
    Optional<EndReason> failureReason() {
        return failureReason;
    }

    boolean isEnded() {
        return ended;
    }

    /** Returns when its end was reported. */
    long endedMs() {
        return endedMs;
    }

    /** Returns whether its end is the only report: the ticket may never have been submitted. */
    boolean endedWithoutReport() {
        return endedWithoutReport;
    }

    Map<WorkerPhase, Duration> slowestPhases() {
        return Map.copyOf(slowest);
    }

    /** Returns the phase of the slot that is furthest behind. */
    WorkerPhase currentPhase(int nodes) {
        if (slots.isEmpty()) {
            return WorkerPhase.QUEUE;
        }
        WorkerPhase furthestBehind = WorkerPhase.REGISTRATION;
        for (int slot = 0; slot < nodes; slot++) {
            if (!ready.containsKey(slot)) {
                WorkerPhase passed = reached.getOrDefault(slot, WorkerPhase.QUEUE);
                WorkerPhase phase = after(passed);
                furthestBehind = phase.compareTo(furthestBehind) < 0 ? phase : furthestBehind;
            }
        }
        return furthestBehind;
    }

    private static WorkerPhase after(WorkerPhase passed) {
        return switch (passed) {
            case QUEUE -> WorkerPhase.BOOT;
            case BOOT -> WorkerPhase.EVIDENCE;
            case EVIDENCE -> WorkerPhase.KEYS;
            case KEYS -> WorkerPhase.TUNNEL;
            case TUNNEL, REGISTRATION, TEARDOWN -> WorkerPhase.REGISTRATION;
        };
    }
}
