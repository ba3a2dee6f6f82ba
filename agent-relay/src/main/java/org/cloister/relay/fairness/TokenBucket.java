package org.cloister.relay.fairness;

/**
 * Token bucket with a steady rate and a burst. It has no clock: time is an argument, in nanoseconds. Not thread-safe:
 * callers use one thread or a lock.
 */
public final class TokenBucket {
    private static final long SECOND_NS = 1_000_000_000L;

    private final long burst;
    private final long perTokenNs;
    private long tokens;
    private long sinceNs;

    /** Creates a full bucket. */
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

    /**
     * Consumes tokens if the bucket has enough.
     *
     * @return whether the tokens were consumed
     */
    public boolean tryAcquire(long cost, long nowNs) {
        if (waitNs(cost, nowNs) > 0) {
            return false;
        }
        tokens -= cost;
        return true;
    }

    /** Consumes tokens even if the bucket has too few: later tokens pay the debt, which is at most one burst. */
    public void charge(long cost, long nowNs) {
        earn(nowNs);
        tokens = Math.max(-burst, tokens - cost);
    }

    /**
     * Returns the time in nanoseconds until {@link #tryAcquire} succeeds, 0 if it succeeds now. A cost above the burst
     * waits for a full bucket.
     */
    public long waitNs(long cost, long nowNs) {
        earn(nowNs);
        long missing = Math.min(cost, burst) - tokens;
        return missing <= 0 ? 0 : Math.max(1, missing * perTokenNs - (nowNs - sinceNs));
    }

    /** Returns whether the bucket is full, so that it can be discarded without effect. */
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
