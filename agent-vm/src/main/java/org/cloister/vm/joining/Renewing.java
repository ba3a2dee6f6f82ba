package org.cloister.vm.joining;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.Readmission;
import org.jspecify.annotations.Nullable;

/**
 * When a worker's certificate wants a newer one, and what its controlling VM has sent it anew and is not taken yet. The fresh
 * value is the circuit's: with the circuit goes what came on it. Time is an argument, in nanoseconds.
 */
final class Renewing {
    /** If nothing came of it. */
    static final Duration AGAIN = Duration.ofMinutes(15);

    private static final long NEVER = Long.MAX_VALUE;

    private @Nullable Nonce fresh;
    private @Nullable Readmission waiting;
    private long dueNs = NEVER;

    void opened(Nonce ofCircuit) {
        fresh = ofCircuit;
    }

    void closed() {
        fresh = null;
        waiting = null;
    }

    /** It is taken when hands are free. */
    void came(Readmission readmission) {
        waiting = readmission;
    }

    /** @param in half of the time for which the certificate holds */
    void has(Duration in, long nowNs) {
        dueNs = nowNs + Math.max(in.toNanos(), AGAIN.toNanos());
    }

    /** @return what is to be taken now, once */
    Optional<Act.Readmit> take() {
        if (waiting == null || fresh == null) {
            return Optional.empty();
        }
        Act.Readmit next = new Act.Readmit(waiting, fresh);
        waiting = null;
        return Optional.of(next);
    }

    /** @return whether a new circuit is to bring another certificate; said once */
    boolean isDue(long nowNs) {
        if (nowNs < dueNs) {
            return false;
        }
        dueNs = nowNs + AGAIN.toNanos();
        return true;
    }

    long dueNs() {
        return dueNs;
    }

    /** Whether the circuit is there on which this was sent. */
    boolean isOf(Nonce which) {
        return which.equals(fresh);
    }
}
