package org.cloister.vm.metrics;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what unauthenticated peers do and picks the few events that get a log line, the first, second, fourth, eighth and so
 * on: a peer cannot fill the log. From any thread.
 */
public final class UnauthenticatedPeerCounter {
    private final AtomicLong count = new AtomicLong();
    private final Runnable counted;

    /** @param counted told of each */
    public UnauthenticatedPeerCounter(Runnable counted) {
        this.counted = counted;
    }

    /** @return whether this one is to be logged */
    public boolean countEvent() {
        counted.run();
        return Long.bitCount(count.incrementAndGet()) == 1;
    }

    @Override
    public String toString() {
        return "stranger " + count + ", logged at 1, 2, 4, 8, ...";
    }
}
