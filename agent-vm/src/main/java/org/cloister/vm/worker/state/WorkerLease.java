package org.cloister.vm.worker.state;

import java.time.Duration;

/**
 * Lease of a worker: the time for which it continues without its controlling VM, and the times of its heartbeats. Time
 * is an argument, in nanoseconds.
 */
final class WorkerLease {
    /** Heartbeats in a lease. */
    static final int HEARTBEATS_PER_LEASE = 6;
    /** Bound of the interval, since the relay closes idle circuits. */
    static final Duration MAX_HEARTBEAT_INTERVAL = Duration.ofSeconds(50);

    private static final long NEVER = Long.MAX_VALUE;

    private Duration length = Duration.ZERO;
    private long expiryNs = NEVER;
    private long heartbeatNs = NEVER;

    /** Starts the first lease, or replaces the one before. */
    void start(Duration lease, long nowNs) {
        length = lease;
        expiryNs = nowNs + lease.toNanos();
        heartbeatNs = nowNs + heartbeatIntervalNs();
    }

    /** Extends the lease: the controlling VM has answered. */
    void renew(long nowNs) {
        if (expiryNs != NEVER) {
            expiryNs = nowNs + length.toNanos();
        }
    }

    boolean isExpired(long nowNs) {
        return nowNs >= expiryNs;
    }

    /** Schedules a heartbeat at once: on a new circuit the worker sends the first. */
    void scheduleHeartbeatNow(long nowNs) {
        heartbeatNs = nowNs;
    }

    /**
     * Polls for a heartbeat.
     *
     * @return whether to send one now
     */
    boolean pollHeartbeat(long nowNs) {
        if (nowNs < heartbeatNs) {
            return false;
        }
        heartbeatNs = nowNs + heartbeatIntervalNs();
        return true;
    }

    long heartbeatNs() {
        return heartbeatNs;
    }

    /** Returns the lease's expiry; {@link Long#MAX_VALUE} before the first lease. */
    long expiryNs() {
        return expiryNs;
    }

    private long heartbeatIntervalNs() {
        return Math.min(length.toNanos() / HEARTBEATS_PER_LEASE, MAX_HEARTBEAT_INTERVAL.toNanos());
    }
}
