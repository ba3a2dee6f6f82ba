package org.cloister.relay.links;

/** One link's renewals: one at a time, and not too often. No clock: time is an argument, in nanoseconds. */
final class RenewalThrottle {
    private final long pauseNs;
    private boolean begun;
    private boolean asked;
    private long sinceNs;

    RenewalThrottle(long pauseNs) {
        this.pauseNs = pauseNs;
    }

    /** @return whether it may ask now; then {@link #finish} when it is answered */
    synchronized boolean tryStart(long nowNs) {
        if (begun || (asked && nowNs - sinceNs < pauseNs)) {
            return false;
        }
        begun = true;
        asked = true;
        sinceNs = nowNs;
        return true;
    }

    synchronized void finish() {
        begun = false;
    }
}
