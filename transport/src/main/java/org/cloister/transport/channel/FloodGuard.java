package org.cloister.transport.channel;

import java.time.Duration;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Limits the rate of a VM's requests, messages and frames, which cost the host time even if they are unwanted. It has
 * no clock: time is an argument, in nanoseconds.
 */
final class FloodGuard {
    private static final Duration WITHIN = Duration.ofSeconds(10);

    private long sinceNs;
    private int count;

    FloodGuard(long nowNs) {
        this.sinceNs = nowNs;
    }

    /**
     * Counts one event.
     *
     * @return false if the limit is exceeded
     */
    boolean tryAcquire(long nowNs) {
        if (nowNs - sinceNs >= WITHIN.toNanos()) {
            sinceNs = nowNs;
            count = 0;
        }
        return ++count <= ProtocolLimits.VM_MESSAGES;
    }
}
