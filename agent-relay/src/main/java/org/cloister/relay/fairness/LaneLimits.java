package org.cloister.relay.fairness;

/**
 * Limits of one key of a {@link FairQueue}.
 *
 * @param maxWaiting maximum number of waiting entries
 * @param atOnce maximum number of entries that were taken and are not finished
 * @param perSecond cost per second
 * @param burst cost that is available at once after a pause
 */
public record LaneLimits(int maxWaiting, int atOnce, long perSecond, long burst) {
    /** Rate that is in effect no limit. */
    public static final long ANY_RATE = 1_000_000_000L;

    public static LaneLimits unpaced(int waiting, int atOnce) {
        return new LaneLimits(waiting, atOnce, ANY_RATE, ANY_RATE);
    }
}
