package org.cloister.relay.fairness;

/**
 * What one key of a {@link FairQueue} may have.
 *
 * @param maxWaiting entries that wait
 * @param atOnce entries that were taken and are not finished
 * @param perSecond cost a second
 * @param burst cost at once after a pause
 */
public record LaneLimits(int maxWaiting, int atOnce, long perSecond, long burst) {
    /** No limit of rate. */
    public static final long ANY_RATE = 1_000_000_000L;

    public static LaneLimits unpaced(int waiting, int atOnce) {
        return new LaneLimits(waiting, atOnce, ANY_RATE, ANY_RATE);
    }
}
