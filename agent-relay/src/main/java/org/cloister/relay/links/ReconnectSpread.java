package org.cloister.relay.links;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.link.ReconnectDelay;

/**
 * Computes the reconnection delay that the relay sends to its agents. The delay is spread by the largest number of
 * agents attached so far, so that they do not all return at once. Thread-safe.
 */
public final class ReconnectSpread {
    /** Rate at which agents may return after a disconnection: each attached agent adds 2 ms to the spread of delays. */
    private static final int RETURNS_PER_S = 500;

    private static final Duration SHORTEST = Duration.ofMillis(500);

    private final AtomicInteger mostAttached = new AtomicInteger();

    void onAttached(int attached) {
        mostAttached.accumulateAndGet(attached, Math::max);
    }

    ReconnectDelay delay() {
        long spread = Math.max(SHORTEST.toMillis(), mostAttached.get() * 1000L / RETURNS_PER_S);
        return new ReconnectDelay(
                Duration.ofMillis(500), Duration.ofMillis(Math.min(spread, ReconnectDelay.LONGEST.toMillis())));
    }
}
