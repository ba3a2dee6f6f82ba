package org.cloister.vm.rpcfilter;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts connections against {@link RpcFilterLimits}: those that workers have to the filter, and those of them that
 * continue to slurmctld.
 */
final class ConnectionLimiter {
    private final RpcFilterLimits limits;
    private final Map<InetAddress, WorkerConnections> workers = new HashMap<>();
    private int connections;
    private int upstream;

    private static final class WorkerConnections {
        private int connections;
        private int upstream;
    }

    ConnectionLimiter(RpcFilterLimits limits) {
        this.limits = limits;
    }

    /** Returns whether any worker may have another connection. */
    boolean hasRoom() {
        return connections < limits.maxConnections();
    }

    /**
     * Counts a connection.
     *
     * @return false, and nothing is counted, if this worker has its maximum
     */
    boolean acquire(InetAddress worker) {
        WorkerConnections counts = workers.computeIfAbsent(worker, address -> new WorkerConnections());
        if (counts.connections >= limits.maxConnectionsPerWorker()) {
            return false;
        }
        counts.connections++;
        connections++;
        return true;
    }

    /** Releases a connection; called once for each {@link #acquire} that returned true. */
    void release(InetAddress worker) {
        WorkerConnections counts = countsOf(worker);
        counts.connections--;
        connections--;
        if (counts.connections == 0) {
            workers.remove(worker);
        }
    }

    /**
     * Counts a connection to slurmctld.
     *
     * @return false, and nothing is counted, while slurmctld must not get another connection of this worker
     */
    boolean acquireUpstream(InetAddress worker) {
        WorkerConnections counts = countsOf(worker);
        if (upstream >= limits.maxUpstream() || counts.upstream >= limits.maxUpstreamPerWorker()) {
            return false;
        }
        counts.upstream++;
        upstream++;
        return true;
    }

    /**
     * Releases a connection to slurmctld; called once for each {@link #acquireUpstream} that returned true, before
     * {@link #release}.
     */
    void releaseUpstream(InetAddress worker) {
        countsOf(worker).upstream--;
        upstream--;
    }

    private WorkerConnections countsOf(InetAddress worker) {
        WorkerConnections counts = workers.get(worker);
        if (counts == null) {
            throw new IllegalArgumentException("connections of " + worker + ": none are counted");
        }
        return counts;
    }
}
