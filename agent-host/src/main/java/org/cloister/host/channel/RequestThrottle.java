package org.cloister.host.channel;

/**
 * Limits requests to one at a time, with a minimum pause after each response. It has no clock: the time is an argument.
 */
final class RequestThrottle {
    private final long pauseNs;
    private boolean running;
    private boolean any;
    private long finishedNs;

    RequestThrottle(long pauseNs) {
        this.pauseNs = pauseNs;
    }

    synchronized boolean tryAcquire(long nowNs) {
        if (running || (any && nowNs - finishedNs < pauseNs)) {
            return false;
        }
        running = true;
        any = true;
        return true;
    }

    synchronized void release(long nowNs) {
        running = false;
        finishedNs = nowNs;
    }
}
