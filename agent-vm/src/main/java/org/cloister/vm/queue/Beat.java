package org.cloister.vm.queue;

import java.time.Duration;

/** When the queue is looked at next. Times are {@link System#nanoTime}'s. */
final class Beat {
    static final long IDLE_NS = Duration.ofSeconds(1).toNanos();
    /** While something is about to happen in Slurm that rings no bell. */
    static final long CLOSE_NS = Duration.ofMillis(100).toNanos();
    /** Our plugin rings just before its job is in the queue; slurmctld may be busy for longer. */
    static final long AFTER_NS = Duration.ofMillis(200).toNanos();

    static final long LONG_AFTER_NS = Duration.ofSeconds(1).toNanos();
    /** Between looks at least, and as long as Slurm's answers to one take: slurmctld has others to answer. */
    static final long REST_NS = Duration.ofMillis(50).toNanos();

    private long beganNs;
    private long endedNs;
    private long lookNs;
    private long rungNs;
    private boolean rung;
    private boolean news;
    private boolean close;

    /** @param nowNs the first look is due now */
    Beat(long nowNs) {
        this.beganNs = nowNs - IDLE_NS;
        this.endedNs = nowNs - IDLE_NS;
        this.rungNs = nowNs - IDLE_NS - LONG_AFTER_NS;
        this.news = true;
    }

    void ring(long nowNs) {
        rung = true;
        rungNs = nowNs;
    }

    /** The workers said something. */
    void news() {
        news = true;
    }

    void began(long nowNs) {
        beganNs = nowNs;
        rung = false;
        news = false;
    }

    /**
     * @param tookNs Slurm's answers; what was decided and done after them is not among it
     * @param something whether something is about to happen
     */
    void ended(long nowNs, long tookNs, boolean something) {
        endedNs = nowNs;
        lookNs = tookNs;
        close = something;
    }

    long nextNs() {
        long next = beganNs + (close ? CLOSE_NS : IDLE_NS);
        if (rung || news) {
            next = beganNs;
        }
        for (long after : new long[] {rungNs + AFTER_NS, rungNs + LONG_AFTER_NS}) {
            if (after - beganNs > 0 && after - next < 0) {
                next = after;
            }
        }
        long rested = endedNs + Math.max(REST_NS, lookNs);
        return next - rested > 0 ? next : rested;
    }
}
