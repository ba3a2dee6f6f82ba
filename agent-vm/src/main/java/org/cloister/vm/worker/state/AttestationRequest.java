package org.cloister.vm.worker.state;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.evidence.Nonce;
import org.jspecify.annotations.Nullable;

/**
 * The controlling VM's question to a worker, and the state of the host's answer to it. Time is an argument, in
 * nanoseconds.
 */
final class AttestationRequest {
    /** Time limit on one circuit for a host that does not sign evidence. */
    static final Duration LIMIT = Duration.ofSeconds(30);

    private static final long NEVER = Long.MAX_VALUE;

    private @Nullable Nonce nonce;
    private boolean requestedOnce;
    private boolean requested;
    private boolean answered;
    private Duration duration = Duration.ZERO;
    private long openedNs;
    private long evidenceNs;
    private long requestNs;
    private long timeoutNs = NEVER;

    void onCircuitOpened(long nowNs) {
        openedNs = nowNs;
    }

    /** Resets all: the same question is sent again on the next circuit. */
    void onCircuitClosed() {
        nonce = null;
        requested = false;
        answered = false;
        timeoutNs = NEVER;
    }

    void question(Nonce question, long nowNs) {
        nonce = question;
        requestNs = nowNs;
        timeoutNs = nowNs + LIMIT.toNanos();
    }

    /** Returns the question that is open. */
    Optional<Nonce> question() {
        return Optional.ofNullable(nonce);
    }

    /**
     * Returns whether evidence was ever requested from the host: from then on the keys are the only ones of the VM's
     * life.
     */
    boolean wasRequested() {
        return requestedOnce;
    }

    /**
     * Polls for a request to the host.
     *
     * @return the nonce with which to ask the host now, if any
     */
    Optional<Nonce> pollRequest(long nowNs) {
        if (nonce == null || requested || answered || nowNs < requestNs) {
            return Optional.empty();
        }
        requested = true;
        requestedOnce = true;
        return Optional.of(nonce);
    }

    /**
     * Records the host's evidence.
     *
     * @return whether it answers the open question
     */
    boolean onEvidence(Nonce answeredNonce, long nowNs) {
        if (!requested || !answeredNonce.equals(nonce)) {
            return false;
        }
        requested = false;
        answered = true;
        timeoutNs = NEVER;
        evidenceNs = nowNs;
        duration = Duration.ofNanos(nowNs - openedNs);
        return true;
    }

    /**
     * Records the host's refusal and schedules the next request a second later.
     *
     * @return whether it concerns the open question
     */
    boolean onRefusal(Nonce answeredNonce, long nowNs) {
        if (!requested || !answeredNonce.equals(nonce)) {
            return false;
        }
        requested = false;
        requestNs = nowNs + TimeUnit.SECONDS.toNanos(1);
        return true;
    }

    /**
     * Polls for the timeout.
     *
     * @return whether the time limit has passed; true once
     */
    boolean pollTimeout(long nowNs) {
        if (nowNs < timeoutNs) {
            return false;
        }
        timeoutNs = NEVER;
        nonce = null;
        return true;
    }

    long wakeNs() {
        return nonce != null && !requested && !answered ? Math.min(requestNs, timeoutNs) : timeoutNs;
    }

    /** Returns the time from the circuit's opening to the statement. */
    Duration duration() {
        return duration;
    }

    long evidenceNs() {
        return evidenceNs;
    }
}
