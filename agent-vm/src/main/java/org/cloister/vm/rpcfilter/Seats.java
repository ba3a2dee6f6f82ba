package org.cloister.vm.rpcfilter;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/** Counts connections against {@link Limits}: those that workers have here, and of these the ones that go on to slurmctld. */
final class Seats {
    private final Limits limits;
    private final Map<InetAddress, Taken> workers = new HashMap<>();
    private int connections;
    private int passed;

    private static final class Taken {
        private int connections;
        private int passed;
    }

    Seats(Limits limits) {
        this.limits = limits;
    }

    /** Whether any worker may have another connection. */
    boolean hasRoom() {
        return connections < limits.connections();
    }

    /** @return false, and nothing is counted, if this worker has all that it may have */
    boolean enter(InetAddress worker) {
        Taken taken = workers.computeIfAbsent(worker, none -> new Taken());
        if (taken.connections >= limits.ofWorker()) {
            return false;
        }
        taken.connections++;
        connections++;
        return true;
    }

    /** Once for each {@link #enter} that was true. */
    void leave(InetAddress worker) {
        Taken taken = taken(worker);
        taken.connections--;
        connections--;
        if (taken.connections == 0) {
            workers.remove(worker);
        }
    }

    /** @return false, and nothing is counted, while slurmctld is not to have another connection of this worker */
    boolean pass(InetAddress worker) {
        Taken taken = taken(worker);
        if (passed >= limits.passed() || taken.passed >= limits.passedOfWorker()) {
            return false;
        }
        taken.passed++;
        passed++;
        return true;
    }

    /** Once for each {@link #pass} that was true, and before {@link #leave}. */
    void passedOut(InetAddress worker) {
        taken(worker).passed--;
        passed--;
    }

    private Taken taken(InetAddress worker) {
        Taken taken = workers.get(worker);
        if (taken == null) {
            throw new IllegalArgumentException("connections of " + worker + ": none are counted");
        }
        return taken;
    }
}
