package org.cloister.protocol.handover;

import java.time.Duration;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;
import org.jspecify.annotations.Nullable;

/**
 * What a VM may say now, at its verifier: the order of a boot conversation, and how much of it. No clock: time is an argument,
 * in nanoseconds. Not for several threads.
 */
public final class VmMessageOrder {
    private static final Duration WITHIN = Duration.ofSeconds(10);

    private enum State {
        ASKED,
        SHOWN,
        GIVEN,
        RESUMING,
        OVER
    }

    private final CertificateRole vm;
    private State state;
    private boolean there;
    private boolean resumed;
    private boolean readmitting;
    private long sinceNs;
    private int words;

    private VmMessageOrder(CertificateRole vm, State state, long nowNs) {
        this.vm = vm;
        this.state = state;
        this.sinceNs = nowNs;
    }

    /** Of a circuit on which a VM showed a boot certificate, once it was asked. */
    public static VmMessageOrder forBoot(CertificateRole vm, long nowNs) {
        return new VmMessageOrder(vm, State.ASKED, nowNs);
    }

    /** Of a later circuit, which a worker opens with the certificate that it was given. */
    public static VmMessageOrder resuming(long nowNs) {
        return new VmMessageOrder(CertificateRole.WORKER, State.RESUMING, nowNs);
    }

    /** Of a later circuit with a controlling VM, which shows on it the chain that it was unlocked with. */
    public static VmMessageOrder forUnlocked(long nowNs) {
        return new VmMessageOrder(CertificateRole.CONTROLLER, State.GIVEN, nowNs);
    }

    /**
     * Keys and all are on their way: from now on the VM tells how it goes.
     *
     * @throws IllegalStateException if it has shown nothing, or they were given before
     */
    public void recordHandover() {
        if (state != State.SHOWN) {
            throw new IllegalStateException(
                    "boot conversation: want a VM that has shown its evidence, have one " + state);
        }
        state = State.GIVEN;
    }

    /**
     * What a worker has is on its way anew: it may say once that it works with it.
     *
     * @throws IllegalStateException if it has not resumed here, or was readmitted before
     */
    public void recordReadmission() {
        if (state != State.GIVEN || !resumed) {
            throw new IllegalStateException("boot conversation: want a worker that has resumed, have one " + state);
        }
        resumed = false;
        readmitting = true;
    }

    /** @throws MalformedException if it does not belong here, or is one too many: the circuit ends */
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
            words = 0;
        }
        if (++words > ProtocolLimits.BOOT_MESSAGES) {
            throw new MalformedException(
                    "boot conversation: want at most " + ProtocolLimits.BOOT_MESSAGES + " messages in 10 s, have more");
        }
    }

    /** @return null if it does not belong here */
    private @Nullable State next(VmMessage message) {
        return switch (state) {
            case ASKED -> first(message);
            // It waits for what it gets, and may only give up.
            case SHOWN -> message instanceof VmMessage.Failure ? State.OVER : null;
            case GIVEN -> later(message);
            case RESUMING -> resuming(message);
            case OVER -> null;
        };
    }

    private @Nullable State resuming(VmMessage message) {
        resumed = message instanceof VmMessage.Resume;
        return resumed ? State.GIVEN : null;
    }

    private static @Nullable State first(VmMessage message) {
        if (message instanceof VmMessage.Evidence) {
            return State.SHOWN;
        }
        return message instanceof VmMessage.NoStatement || message instanceof VmMessage.Failure ? State.OVER : null;
    }

    private @Nullable State later(VmMessage message) {
        boolean worker = vm == CertificateRole.WORKER;
        if (message instanceof VmMessage.PhaseCompleted || (worker && message instanceof VmMessage.Heartbeat)) {
            return State.GIVEN;
        }
        // What a worker did until it gave up, it still says in its part.
        if (message instanceof VmMessage.Failure) {
            return worker ? State.GIVEN : State.OVER;
        }
        if (worker && message instanceof VmMessage.FinalStatement) {
            return State.OVER;
        }
        if (readmitting && message instanceof VmMessage.Readmitted) {
            readmitting = false;
            return State.GIVEN;
        }
        boolean arrives = worker ? message instanceof VmMessage.Ready : message instanceof VmMessage.Opened;
        if (arrives && !there) {
            there = true;
            return State.GIVEN;
        }
        return null;
    }
}
