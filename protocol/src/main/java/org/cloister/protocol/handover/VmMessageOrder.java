package org.cloister.protocol.handover;

import java.time.Duration;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * Order and rate of a VM's messages in a boot conversation, as the verifier enforces them. It has no clock: time is an
 * argument, in nanoseconds. Not thread-safe.
 */
public final class VmMessageOrder {
    private static final Duration WITHIN = Duration.ofSeconds(10);

    private enum State {
        QUERIED,
        PRESENTED,
        HANDED_OVER,
        RESUMING,
        OVER
    }

    private final CertificateRole vm;
    private State state;
    private boolean wasReady;
    private boolean resumed;
    private boolean readmitting;
    private long sinceNs;
    private int count;

    private VmMessageOrder(CertificateRole vm, State state, long nowNs) {
        this.vm = vm;
        this.state = state;
        this.sinceNs = nowNs;
    }

    /** Returns the order for a circuit on which a VM showed a boot certificate, after the verifier's question. */
    public static VmMessageOrder forBoot(CertificateRole vm, long nowNs) {
        return new VmMessageOrder(vm, State.QUERIED, nowNs);
    }

    /** Returns the order for a later circuit, which a worker opens with the certificate that it received. */
    public static VmMessageOrder resuming(long nowNs) {
        return new VmMessageOrder(CertificateRole.WORKER, State.RESUMING, nowNs);
    }

    /**
     * Returns the order for a later circuit with a controlling VM, which shows the chain with which it was unlocked.
     */
    public static VmMessageOrder forUnlocked(long nowNs) {
        return new VmMessageOrder(CertificateRole.CONTROLLER, State.HANDED_OVER, nowNs);
    }

    /**
     * Records that the hand-over was sent: from now on the VM may report its progress.
     *
     * @throws IllegalStateException if the VM has not shown its evidence, or the hand-over was recorded before
     */
    public void recordHandover() {
        if (state != State.PRESENTED) {
            throw new IllegalStateException(
                    "boot conversation: want a VM that has shown its evidence, have one " + state);
        }
        state = State.HANDED_OVER;
    }

    /**
     * Records that a readmission was sent: the worker may confirm it once.
     *
     * @throws IllegalStateException if the worker has not resumed on this circuit, or was readmitted before
     */
    public void recordReadmission() {
        if (state != State.HANDED_OVER || !resumed) {
            throw new IllegalStateException("boot conversation: want a worker that has resumed, have one " + state);
        }
        resumed = false;
        readmitting = true;
    }

    /**
     * Checks that the message may be sent now, and records it.
     *
     * @throws MalformedException if the message is out of order, or above the rate: the circuit ends
     */
    public void accept(VmMessage message, long nowNs) throws MalformedException {
        count(nowNs);
        if (message instanceof VmMessage.UnknownMessage) {
            return;
        }
        State next = next(message);
        if (next == null) {
            throw new MalformedException("boot conversation with a " + vm + " that is " + state
                    + ": want another message, have " + message.getClass().getSimpleName());
        }
        state = next;
    }

    private void count(long nowNs) throws MalformedException {
        if (nowNs - sinceNs >= WITHIN.toNanos()) {
            sinceNs = nowNs;
            count = 0;
        }
        if (++count > ProtocolLimits.BOOT_MESSAGES) {
            throw new MalformedException(
                    "boot conversation: want at most " + ProtocolLimits.BOOT_MESSAGES + " messages in 10 s, have more");
        }
    }

    /**
     * Determines the next state.
     *
     * @return the next state; null if the message is out of order
     */
    private @Nullable State next(VmMessage message) {
        return switch (state) {
            case QUERIED -> first(message);
            // The VM waits for the hand-over, and may only report a failure.
            case PRESENTED -> message instanceof VmMessage.Failure ? State.OVER : null;
            case HANDED_OVER -> later(message);
            case RESUMING -> resuming(message);
            case OVER -> null;
        };
    }

    private @Nullable State resuming(VmMessage message) {
        resumed = message instanceof VmMessage.Resume;
        return resumed ? State.HANDED_OVER : null;
    }

    private static @Nullable State first(VmMessage message) {
        if (message instanceof VmMessage.Evidence) {
            return State.PRESENTED;
        }
        return message instanceof VmMessage.NoStatement || message instanceof VmMessage.Failure ? State.OVER : null;
    }

    private @Nullable State later(VmMessage message) {
        boolean worker = vm == CertificateRole.WORKER;
        if (message instanceof VmMessage.PhaseCompleted || (worker && message instanceof VmMessage.Heartbeat)) {
            return State.HANDED_OVER;
        }
        // A worker that failed still sends its part of the receipt.
        if (message instanceof VmMessage.Failure) {
            return worker ? State.HANDED_OVER : State.OVER;
        }
        if (worker && message instanceof VmMessage.FinalStatement) {
            return State.OVER;
        }
        if (readmitting && message instanceof VmMessage.Readmitted) {
            readmitting = false;
            return State.HANDED_OVER;
        }
        boolean isReady = worker ? message instanceof VmMessage.Ready : message instanceof VmMessage.Opened;
        if (isReady && !wasReady) {
            wasReady = true;
            return State.HANDED_OVER;
        }
        return null;
    }
}
