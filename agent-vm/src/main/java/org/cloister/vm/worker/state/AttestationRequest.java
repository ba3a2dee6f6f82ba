package org.cloister.vm.worker.state;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.evidence.Nonce;
import org.jspecify.annotations.Nullable;

/** The question of a course's controlling VM, and how far its host's answer is. Time is an argument, in nanoseconds. */
final class AttestationRequest {
    /** For a host that does not vouch, on one circuit. */
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

    /** All from the beginning: the same question comes again. */
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

    /** The question that is open. */
    Optional<Nonce> question() {
        return Optional.ofNullable(nonce);
    }

    /** Whether the host was ever asked: from then on the keys are those of the VM's life. */
    boolean wasRequested() {
        return asked;
    }

    /** @return what the host is to be asked now, if anything */
    Optional<Nonce> pollRequest(long nowNs) {
        if (nonce == null || asking || shown || nowNs < askNs) {
            return Optional.empty();
        }
        asking = true;
        asked = true;
        return Optional.of(nonce);
    }

    /** @return whether it answers the question */
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

    /** @return whether the question was meant; then it is asked again a little later */
    boolean onRefusal(Nonce which, long nowNs) {
        if (!asking || !which.equals(nonce)) {
            return false;
        }
        asking = false;
        askNs = nowNs + TimeUnit.SECONDS.toNanos(1);
        return true;
    }

    /** @return whether the time for it is over; said once */
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

    /** From the circuit to the statement. */
    Duration duration() {
        return took;
    }

    long evidenceNs() {
        return shownNs;
    }
}
