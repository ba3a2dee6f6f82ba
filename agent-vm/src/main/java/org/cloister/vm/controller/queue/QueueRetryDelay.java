package org.cloister.vm.controller.queue;

/** Computes how long to wait before a failed attempt is repeated. */
final class QueueRetryDelay {
    private static final long FIRST_MS = 1_000;
    private static final long MAX_MS = 60_000;
    private static final int MAX_DOUBLINGS = 6;

    private QueueRetryDelay() {}

    /**
     * Returns the delay in milliseconds.
     *
     * @param failures consecutive failures; without one, there is no delay
     */
    static long delayMs(int failures) {
        return failures <= 0 ? 0 : Math.min(MAX_MS, FIRST_MS << Math.min(failures - 1, MAX_DOUBLINGS));
    }
}
