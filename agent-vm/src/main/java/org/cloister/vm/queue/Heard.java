package org.cloister.vm.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** What the workers have said of one ticket since this process began. Each event may come twice, and an old one late. */
final class Heard {
    private boolean any;
    private OptionalInt slots = OptionalInt.empty();
    private final Map<Integer, String> ready = new HashMap<>();
    private final Set<Integer> gone = new HashSet<>();
    private final Map<Integer, Phase> reached = new HashMap<>();
    private final Map<Phase, Duration> slowest = new EnumMap<>(Phase.class);
    private Optional<Trouble> trouble = Optional.empty();
    private boolean ended;
    private boolean unknown;
    private long allocatedMs;
    private long readyMs;
    private long endedMs;

    /** @param nowMs {@link Moment#elapsedMs} */
    void apply(WorkerEvent event, long nowMs) {
        boolean first = !any;
        any = true;
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
            trouble = trouble.or(() -> Optional.of(node.trouble()));
        } else if (event instanceof WorkerEvent.Refused refused) {
            trouble = trouble.or(() -> Optional.of(refused.trouble()));
            end(nowMs);
        } else if (event instanceof WorkerEvent.Ended end) {
            unknown = first;
            trouble = trouble.or(() -> Optional.of(end.trouble()));
            end(nowMs);
        }
    }

    /** Whether the workers know of it, or said that they do not. */
    boolean any() {
        return any;
    }

    private void end(long nowMs) {
        endedMs = ended ? endedMs : nowMs;
        ended = true;
    }

    /** Empty until the site has given nodes. */
    OptionalInt slots() {
        return slots;
    }

    long allocatedMs() {
        return allocatedMs;
    }

    int readySlots() {
        return ready.size();
    }

    /** Names of nodes, by slot, those that have gone included. */
    Map<Integer, String> ready() {
        return Map.copyOf(ready);
    }

    /** Names of nodes that had been ready and whose VM has gone. */
    Set<String> goneNodes() {
        Set<String> names = new HashSet<>();
        ready.forEach((slot, name) -> {
            if (ended || gone.contains(slot)) {
                names.add(name);
            }
        });
        return names;
    }

    /** When the last node that was not ready before became so. */
    long readyMs() {
        return readyMs;
    }

    /** What keeps it from all its nodes for good; the first of several. */
    Optional<Trouble> trouble() {
        return trouble;
    }

    boolean ended() {
        return ended;
    }

    /** When its end was heard of. */
    long endedMs() {
        return endedMs;
    }

    /** Its end is all that was ever heard: it may never have been asked for. */
    boolean endedUnknown() {
        return unknown;
    }

    Map<Phase, Duration> slowest() {
        return Map.copyOf(slowest);
    }

    /** The phase in which the slot is that is furthest behind. */
    Phase phase(int nodes) {
        if (slots.isEmpty()) {
            return Phase.QUEUE;
        }
        Phase least = Phase.REGISTRATION;
        for (int slot = 0; slot < nodes; slot++) {
            if (!ready.containsKey(slot)) {
                Phase passed = reached.getOrDefault(slot, Phase.QUEUE);
                Phase in = after(passed);
                least = in.compareTo(least) < 0 ? in : least;
            }
        }
        return least;
    }

    private static Phase after(Phase passed) {
        return switch (passed) {
            case QUEUE -> Phase.BOOT;
            case BOOT -> Phase.EVIDENCE;
            case EVIDENCE -> Phase.KEYS;
            case KEYS -> Phase.TUNNEL;
            case TUNNEL, REGISTRATION, TEARDOWN -> Phase.REGISTRATION;
        };
    }
}
