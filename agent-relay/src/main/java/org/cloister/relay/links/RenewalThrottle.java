package org.cloister.relay.links;

/**
 * Limits one link to one renewal at a time with a minimum interval. It has no clock: time is an argument, in
 * nanoseconds.
 */
final class RenewalThrottle {
    private final long pauseNs;
    private boolean running;
    private boolean everStarted;
    private long sinceNs;

    RenewalThrottle(long pauseNs) {
        this.pauseNs = pauseNs;
    }

    /**
     * Starts a request if the throttle permits it.
     *
     * @return whether the request may start now; the caller then calls {@link #finish} once it is answered
     */
    synchronized boolean tryStart(long nowNs) {
        if (running || (everStarted && nowNs - sinceNs < pauseNs)) {
            return false;
        }
        running = true;
        everStarted = true;
        sinceNs = nowNs;
        return true;
    }

    synchronized void finish() {
        running = false;
    }
}
