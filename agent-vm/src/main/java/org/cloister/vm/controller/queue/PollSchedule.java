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

    private long beganNs;
    private long endedNs;
    private long lookNs;
    private long rungNs;
    private boolean rung;
    private boolean news;
    private boolean close;

    /** @param nowNs the first poll is due at this time */
    PollSchedule(long nowNs) {
        this.beganNs = nowNs - IDLE_NS;
        this.endedNs = nowNs - IDLE_NS;
        this.rungNs = nowNs - IDLE_NS - LONG_SETTLE_NS;
        this.news = true;
    }

    void onNotification(long nowNs) {
        rung = true;
        rungNs = nowNs;
    }

    /** Called after an event of a worker. */
    void onWorkerEvent() {
        news = true;
    }

    void onPollStart(long nowNs) {
        beganNs = nowNs;
        rung = false;
        news = false;
    }

    /**
     * @param tookNs duration of Slurm's responses, without the decisions and actions after them
     * @param something whether a change is expected soon
     */
    void onPollEnd(long nowNs, long tookNs, boolean something) {
        endedNs = nowNs;
        lookNs = tookNs;
        close = something;
    }

    long nextNs() {
        long next = beganNs + (close ? ACTIVE_NS : IDLE_NS);
        if (rung || news) {
            next = beganNs;
        }
        for (long after : new long[] {rungNs + SETTLE_NS, rungNs + LONG_SETTLE_NS}) {
            if (after - beganNs > 0 && after - next < 0) {
                next = after;
            }
        }
        long rested = endedNs + Math.max(MIN_PAUSE_NS, lookNs);
        return next - rested > 0 ? next : rested;
    }
}
