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
    private boolean asked;
    private boolean asking;
    private boolean shown;
    private Duration took = Duration.ZERO;
    private long openedNs;
    private long shownNs;
    private long askNs;
    private long endNs = NEVER;

    void onCircuitOpened(long nowNs) {
        openedNs = nowNs;
    }

    /** Resets all: the same question is sent again on the next circuit. */
    void onCircuitClosed() {
        nonce = null;
        asking = false;
        shown = false;
        endNs = NEVER;
    }

    void question(Nonce question, long nowNs) {
        nonce = question;
        askNs = nowNs;
        endNs = nowNs + LIMIT.toNanos();
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
        return asked;
    }

    /**
     * Polls for a request to the host.
     *
     * @return the nonce with which to ask the host now, if any
     */
    Optional<Nonce> pollRequest(long nowNs) {
        if (nonce == null || asking || shown || nowNs < askNs) {
            return Optional.empty();
        }
        asking = true;
        asked = true;
        return Optional.of(nonce);
    }

    /**
     * Records the host's evidence.
     *
     * @return whether it answers the open question
     */
    boolean onEvidence(Nonce which, long nowNs) {
        if (!asking || !which.equals(nonce)) {
            return false;
        }
        asking = false;
        shown = true;
        endNs = NEVER;
        shownNs = nowNs;
        took = Duration.ofNanos(nowNs - openedNs);
        return true;
    }

    /**
     * Records the host's refusal and schedules the next request a second later.
     *
     * @return whether it concerns the open question
     */
    boolean onRefusal(Nonce which, long nowNs) {
        if (!asking || !which.equals(nonce)) {
            return false;
        }
        asking = false;
        askNs = nowNs + TimeUnit.SECONDS.toNanos(1);
        return true;
    }

    /**
     * Polls for the timeout.
     *
     * @return whether the time limit has passed; true once
     */
    boolean pollTimeout(long nowNs) {
        if (nowNs < endNs) {
            return false;
        }
        endNs = NEVER;
        nonce = null;
        return true;
    }

    long wakeNs() {
        return nonce != null && !asking && !shown ? Math.min(askNs, endNs) : endNs;
    }

    /** Returns the time from the circuit's opening to the statement. */
    Duration duration() {
        return took;
    }

    long evidenceNs() {
        return shownNs;
    }
}
