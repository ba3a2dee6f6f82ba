package org.cloister.vm.joining;

import java.time.Duration;

/** How long a worker goes on without its controlling VM, and when it says that it is there. Time is an argument, in nanoseconds. */
final class Lease {
    /** Beats in a lease. */
    static final int BEATS = 6;
    /** The relay ends circuits that are idle. */
    static final Duration LONGEST_BEAT = Duration.ofSeconds(50);

    private static final long NEVER = Long.MAX_VALUE;

    private Duration length = Duration.ZERO;
    private long endNs = NEVER;
    private long beatNs = NEVER;

    /** The first, or one in the place of the one before. */
    void given(Duration lease, long nowNs) {
        length = lease;
        endNs = nowNs + lease.toNanos();
        beatNs = nowNs + beatEvery();
    }

    /** The controlling VM is there. */
    void heard(long nowNs) {
        if (endNs != NEVER) {
            endNs = nowNs + length.toNanos();
        }
    }

    boolean isOver(long nowNs) {
        return nowNs >= endNs;
    }

    /** On a new circuit it is the first to say so. */
    void beatNow(long nowNs) {
        beatNs = nowNs;
    }

    /** @return whether to say so now */
    boolean beats(long nowNs) {
        if (nowNs < beatNs) {
            return false;
        }
        beatNs = nowNs + beatEvery();
        return true;
    }

    long beatNs() {
        return beatNs;
    }

    /** {@link Long#MAX_VALUE} before there is one. */
    long endNs() {
        return endNs;
    }

    private long beatEvery() {
        return Math.min(length.toNanos() / BEATS, LONGEST_BEAT.toNanos());
    }
}
