package org.cloister.transport.channel;

import java.time.Duration;
import org.cloister.protocol.link.ProtocolLimits;

/** Counts what costs the host something whether it is wanted or not. No clock: time is an argument, in nanoseconds. */
final class FloodGuard {
    private static final Duration WITHIN = Duration.ofSeconds(10);

    private long sinceNs;
    private int words;

    FloodGuard(long nowNs) {
        this.sinceNs = nowNs;
    }

    /** @return false if it is one too many */
    boolean tryAcquire(long nowNs) {
        if (nowNs - sinceNs >= WITHIN.toNanos()) {
            sinceNs = nowNs;
            words = 0;
        }
        return ++words <= ProtocolLimits.VM_MESSAGES;
    }
}
