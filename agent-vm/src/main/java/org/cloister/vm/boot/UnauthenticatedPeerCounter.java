package org.cloister.vm.boot;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts events of unauthenticated peers and selects the few that are logged, the first, second, fourth, eighth and so
 * on, so that a peer cannot fill the log. Thread-safe.
 */
public final class UnauthenticatedPeerCounter {
    private final AtomicLong count = new AtomicLong();
    private final Runnable onEvent;

    /**
     * Creates a counter.
     *
     * @param onEvent runs at each event
     */
    public UnauthenticatedPeerCounter(Runnable onEvent) {
        this.onEvent = onEvent;
    }

    /**
     * Counts an event.
     *
     * @return whether it is to be logged
     */
    public boolean countEvent() {
        onEvent.run();
        return Long.bitCount(count.incrementAndGet()) == 1;
    }

    @Override
    public String toString() {
        return "unauthenticated peer " + count + ", logged at 1, 2, 4, 8, ...";
    }
}
