package org.cloister.vm.worker.state;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.jspecify.annotations.Nullable;

/**
 * When a worker's certificate wants a newer one, and what its controlling VM has sent it anew and is not taken yet. The fresh
 * value is the circuit's: with the circuit goes what came on it. Time is an argument, in nanoseconds.
 */
final class WorkerCertificateRenewal {
    /** If nothing came of it. */
    static final Duration RETRY_INTERVAL = Duration.ofMinutes(15);

    private static final long NEVER = Long.MAX_VALUE;

    private @Nullable Nonce fresh;
    private @Nullable ReadmissionGrant waiting;
    private long dueNs = NEVER;

    void onCircuitOpened(Nonce ofCircuit) {
        fresh = ofCircuit;
    }

    void onCircuitClosed() {
        fresh = null;
        waiting = null;
    }

    /** It is taken when hands are free. */
    void onReadmission(ReadmissionGrant readmission) {
        waiting = readmission;
    }

    /** @param in half of the time for which the certificate holds */
    void schedule(Duration in, long nowNs) {
        dueNs = nowNs + Math.max(in.toNanos(), RETRY_INTERVAL.toNanos());
    }

    /** @return what is to be taken now, once */
    Optional<WorkerStateAction.ApplyReadmission> pollReadmission() {
        if (waiting == null || fresh == null) {
            return Optional.empty();
        }
        WorkerStateAction.ApplyReadmission next = new WorkerStateAction.ApplyReadmission(waiting, fresh);
        waiting = null;
        return Optional.of(next);
    }

    /** @return whether a new circuit is to bring another certificate; said once */
    boolean pollDue(long nowNs) {
        if (nowNs < dueNs) {
            return false;
        }
        dueNs = nowNs + RETRY_INTERVAL.toNanos();
        return true;
    }

    long dueNs() {
        return dueNs;
    }

    /** Whether the circuit is there on which this was sent. */
    boolean isForCircuit(Nonce which) {
        return which.equals(fresh);
    }
}
