package org.cloister.host.channel;

/**
 * Limits requests to one at a time, with a minimum pause after each response. It has no clock: the time is an argument.
 */
final class RequestThrottle {
    private final long pauseNs;
    private boolean taken;
    private boolean any;
    private long endedNs;

    RequestThrottle(long pauseNs) {
        this.pauseNs = pauseNs;
    }

    synchronized boolean tryAcquire(long nowNs) {
        if (taken || (any && nowNs - endedNs < pauseNs)) {
            return false;
        }
        taken = true;
        any = true;
        return true;
    }

    synchronized void release(long nowNs) {
        taken = false;
        endedNs = nowNs;
    }
}
