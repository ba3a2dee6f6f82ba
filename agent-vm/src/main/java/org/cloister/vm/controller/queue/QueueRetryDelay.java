package org.cloister.vm.controller.queue;

/** How long to wait before something that failed is tried again. */
final class QueueRetryDelay {
    private static final long FIRST_MS = 1_000;
    private static final long MOST_MS = 60_000;
    private static final int MOST_DOUBLINGS = 6;

    private QueueRetryDelay() {}

    /** @param failures in a row; with none, no wait */
    static long delayMs(int failures) {
        return failures <= 0 ? 0 : Math.min(MOST_MS, FIRST_MS << Math.min(failures - 1, MOST_DOUBLINGS));
    }
}
