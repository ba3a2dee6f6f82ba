package org.cloister.vm.worker.state;

import java.time.Duration;

/** How long a worker goes on without its controlling VM, and when it says that it is there. Time is an argument, in nanoseconds. */
final class WorkerLease {
    /** Beats in a lease. */
    static final int HEARTBEATS_PER_LEASE = 6;
    /** The relay ends circuits that are idle. */
    static final Duration MAX_HEARTBEAT_INTERVAL = Duration.ofSeconds(50);

    private static final long NEVER = Long.MAX_VALUE;

    private Duration length = Duration.ZERO;
    private long endNs = NEVER;
    private long beatNs = NEVER;

    /** The first, or one in the place of the one before. */
    void start(Duration lease, long nowNs) {
        length = lease;
        endNs = nowNs + lease.toNanos();
        beatNs = nowNs + beatEvery();
    }

    /** The controlling VM is there. */
    void renew(long nowNs) {
        if (endNs != NEVER) {
            endNs = nowNs + length.toNanos();
        }
    }

    boolean isExpired(long nowNs) {
        return nowNs >= endNs;
    }

    /** On a new circuit it is the first to say so. */
    void scheduleHeartbeatNow(long nowNs) {
        beatNs = nowNs;
    }

    /** @return whether to say so now */
    boolean pollHeartbeat(long nowNs) {
        if (nowNs < beatNs) {
            return false;
        }
        beatNs = nowNs + beatEvery();
        return true;
    }

    long heartbeatNs() {
        return beatNs;
    }

    /** {@link Long#MAX_VALUE} before there is one. */
    long expiryNs() {
        return endNs;
    }

    private long beatEvery() {
        return Math.min(length.toNanos() / HEARTBEATS_PER_LEASE, MAX_HEARTBEAT_INTERVAL.toNanos());
    }
}
