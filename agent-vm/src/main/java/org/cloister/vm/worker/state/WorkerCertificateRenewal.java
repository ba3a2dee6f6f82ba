package org.cloister.vm.worker.state;

import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.jspecify.annotations.Nullable;

/**
 * Due time of a worker's certificate renewal, and the readmission that was received and is not applied yet. The fresh
 * value belongs to the circuit: when the circuit closes, everything received on it is dropped. Time is an argument, in
 * nanoseconds.
 */
final class WorkerCertificateRenewal {
    /** Interval after which an unsuccessful renewal is retried. */
    static final Duration RETRY_INTERVAL = Duration.ofMinutes(15);

    private static final long NEVER = Long.MAX_VALUE;

    private @Nullable Nonce fresh;
    private @Nullable ReadmissionGrant pending;
    private long dueNs = NEVER;

    void onCircuitOpened(Nonce ofCircuit) {
        fresh = ofCircuit;
    }

    void onCircuitClosed() {
        fresh = null;
        pending = null;
    }

    /** Stores a readmission until no other work is in progress. */
    void onReadmission(ReadmissionGrant readmission) {
        pending = readmission;
    }

    /**
     * Schedules the next renewal.
     *
     * @param delay half of the certificate's lifetime
     */
    void schedule(Duration delay, long nowNs) {
        dueNs = nowNs + Math.max(delay.toNanos(), RETRY_INTERVAL.toNanos());
    }

    /**
     * Polls for a readmission.
     *
     * @return the readmission to apply now; each is returned once
     */
    Optional<WorkerStateAction.ApplyReadmission> pollReadmission() {
        if (pending == null || fresh == null) {
            return Optional.empty();
        }
        WorkerStateAction.ApplyReadmission next = new WorkerStateAction.ApplyReadmission(pending, fresh);
        pending = null;
        return Optional.of(next);
    }

    /**
     * Polls for the renewal's time.
     *
     * @return whether a new circuit is to fetch another certificate; true once
     */
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

    /** Returns whether the circuit on which this value was sent is still open. */
    boolean isForCircuit(Nonce nonce) {
        return nonce.equals(fresh);
    }
}
