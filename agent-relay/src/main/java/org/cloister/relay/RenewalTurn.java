package org.cloister.relay;

/** One link's renewals: one at a time, and not too often. No clock: time is an argument, in nanoseconds. */
final class RenewalTurn {
    private final long pauseNs;
    private boolean begun;
    private boolean asked;
    private long sinceNs;

    RenewalTurn(long pauseNs) {
        this.pauseNs = pauseNs;
    }

    /** @return whether it may ask now; then {@link #end} when it is answered */
    synchronized boolean begin(long nowNs) {
        if (begun || (asked && nowNs - sinceNs < pauseNs)) {
            return false;
        }
        begun = true;
        asked = true;
        sinceNs = nowNs;
        return true;
    }

    synchronized void end() {
        begun = false;
    }
}
