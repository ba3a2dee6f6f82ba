package org.cloister.relay;

/** How many circuits a project may open a second: a bucket of tokens. No clock: time is an argument, in nanoseconds. */
final class OpenRate {
    private static final long SECOND_NS = 1_000_000_000L;

    private final long burst;
    private final long perTokenNs;
    private long tokens;
    private long sinceNs;

    OpenRate(int perSecond, long nowNs) {
        this.burst = 2L * perSecond;
        this.perTokenNs = SECOND_NS / perSecond;
        this.tokens = burst;
        this.sinceNs = nowNs;
    }

    synchronized boolean take(long nowNs) {
        long earned = (nowNs - sinceNs) / perTokenNs;
        if (earned > 0) {
            tokens = Math.min(burst, tokens + earned);
            sinceNs += earned * perTokenNs;
        }
        if (tokens == 0) {
            return false;
        }
        tokens--;
        return true;
    }
}
