package org.cloister.vm.controller.queue;

import java.time.Duration;

/** Schedules the polls of the queue. Times are those of {@link System#nanoTime}. */
final class PollSchedule {
    static final long IDLE_NS = Duration.ofSeconds(1).toNanos();
    /** Interval while a change is expected in Slurm that causes no notification. */
    static final long ACTIVE_NS = Duration.ofMillis(100).toNanos();
    /**
     * Delays of polls after a notification. The submit plugin notifies shortly before its job is in the queue;
     * slurmctld may be busy for longer.
     */
    static final long SETTLE_NS = Duration.ofMillis(200).toNanos();

    static final long LONG_SETTLE_NS = Duration.ofSeconds(1).toNanos();
    /**
     * Minimum pause between polls. The pause is also at least as long as Slurm's responses to one poll took, since
     * slurmctld has other clients.
     */
    static final long MIN_PAUSE_NS = Duration.ofMillis(50).toNanos();

    private long pollStartNs;
    private long pollEndNs;
    private long pollDurationNs;
    private long notifiedNs;
    private boolean notified;
    private boolean workerEvent;
    private boolean changeExpected;

    /** @param nowNs the first poll is due at this time */
    PollSchedule(long nowNs) {
        this.pollStartNs = nowNs - IDLE_NS;
        this.pollEndNs = nowNs - IDLE_NS;
        this.notifiedNs = nowNs - IDLE_NS - LONG_SETTLE_NS;
        this.workerEvent = true;
    }

    void onNotification(long nowNs) {
        notified = true;
        notifiedNs = nowNs;
    }

    /** Called after an event of a worker. */
    void onWorkerEvent() {
        workerEvent = true;
    }

    void onPollStart(long nowNs) {
        pollStartNs = nowNs;
        notified = false;
        workerEvent = false;
    }

    /**
     * @param tookNs duration of Slurm's responses, without the decisions and actions after them
     * @param expected whether a change is expected soon
     */
    void onPollEnd(long nowNs, long tookNs, boolean expected) {
        pollEndNs = nowNs;
        pollDurationNs = tookNs;
        changeExpected = expected;
    }

    long nextNs() {
        long nextPollNs = pollStartNs + (changeExpected ? ACTIVE_NS : IDLE_NS);
        if (notified || workerEvent) {
            nextPollNs = pollStartNs;
        }
        for (long after : new long[] {notifiedNs + SETTLE_NS, notifiedNs + LONG_SETTLE_NS}) {
            if (after - pollStartNs > 0 && after - nextPollNs < 0) {
                nextPollNs = after;
            }
        }
        long earliestNs = pollEndNs + Math.max(MIN_PAUSE_NS, pollDurationNs);
        return nextPollNs - earliestNs > 0 ? nextPollNs : earliestNs;
    }
}
