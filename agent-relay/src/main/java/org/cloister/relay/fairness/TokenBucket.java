package org.cloister.relay.fairness;

/** Tokens that come at a steady rate, up to a burst. No clock: time is an argument, in nanoseconds. On one thread, or under a lock. */
public final class TokenBucket {
    private static final long SECOND_NS = 1_000_000_000L;

    private final long burst;
    private final long perTokenNs;
    private long tokens;
    private long sinceNs;

    /** Starts full. */
    public TokenBucket(long perSecond, long burst, long nowNs) {
        if (perSecond < 1 || perSecond > SECOND_NS || burst < 1) {
            throw new IllegalArgumentException(
                    "want a rate and a burst of at least 1, have " + perSecond + ", " + burst);
        }
        this.burst = burst;
        this.perTokenNs = SECOND_NS / perSecond;
        this.tokens = burst;
        this.sinceNs = nowNs;
    }

    /** @return whether there were as many; then they are gone */
    public boolean tryAcquire(long cost, long nowNs) {
        if (waitNs(cost, nowNs) > 0) {
            return false;
        }
        tokens -= cost;
        return true;
    }

    /** Takes tokens that are not there yet, if need be: later ones pay the debt, which is at most a burst. */
    public void charge(long cost, long nowNs) {
        earn(nowNs);
        tokens = Math.max(-burst, tokens - cost);
    }

    /**
     * How long until {@link #tryAcquire} succeeds, 0 if it does now. What costs more than a burst waits for a full
     * bucket.
     */
    public long waitNs(long cost, long nowNs) {
        earn(nowNs);
        long missing = Math.min(cost, burst) - tokens;
        return missing <= 0 ? 0 : Math.max(1, missing * perTokenNs - (nowNs - sinceNs));
    }

    /** Whether forgetting it changes nothing. */
    public boolean isFull(long nowNs) {
        earn(nowNs);
        return tokens == burst;
    }

    private void earn(long nowNs) {
        long earned = (nowNs - sinceNs) / perTokenNs;
        if (earned > 0) {
            tokens = Math.min(burst, tokens + earned);
            sinceNs += earned * perTokenNs;
        }
    }
}
