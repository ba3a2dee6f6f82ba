package org.cloister.vm.controller.queue;

import java.time.Duration;

/** When the queue is looked at next. Times are {@link System#nanoTime}'s. */
final class PollSchedule {
    static final long IDLE_NS = Duration.ofSeconds(1).toNanos();
    /** While something is about to happen in Slurm that rings no bell. */
    static final long ACTIVE_NS = Duration.ofMillis(100).toNanos();
    /** Our plugin rings just before its job is in the queue; slurmctld may be busy for longer. */
    static final long SETTLE_NS = Duration.ofMillis(200).toNanos();

    static final long LONG_SETTLE_NS = Duration.ofSeconds(1).toNanos();
    /** Between looks at least, and as long as Slurm's answers to one take: slurmctld has others to answer. */
    static final long MIN_PAUSE_NS = Duration.ofMillis(50).toNanos();

    private long beganNs;
    private long endedNs;
    private long lookNs;
    private long rungNs;
    private boolean rung;
    private boolean news;
    private boolean close;

    /** @param nowNs the first look is due now */
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

    /** The workers said something. */
    void onWorkerEvent() {
        news = true;
    }

    void onPollStart(long nowNs) {
        beganNs = nowNs;
        rung = false;
        news = false;
    }

    /**
     * @param tookNs Slurm's answers; what was decided and done after them is not among it
     * @param something whether something is about to happen
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
