package org.cloister.vm.worker.state;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.vm.worker.steps.SetupStep;

/** What a {@link WorkerStateMachine} hears. */
public sealed interface WorkerStateEvent {
    /** The channel to the host is there. */
    record ChannelAttached() implements WorkerStateEvent {}

    record ChannelLost() implements WorkerStateEvent {}

    /**
     * The circuit that was called for.
     *
     * @param fresh of no other circuit
     */
    record CircuitOpened(Nonce fresh) implements WorkerStateEvent {}

    /** The circuit is over, or did not come about. */
    record CircuitClosed() implements WorkerStateEvent {}

    record MessageReceived(VerifierMessage message) implements WorkerStateEvent {}

    /**
     * @param nonce that was asked with
     * @param clock this VM's
     */
    record EvidenceReceived(Nonce nonce, ByteString statement, Instant clock) implements WorkerStateEvent {}

    /** @param reason empty if the host did not answer */
    record EvidenceRefused(Nonce nonce, Optional<EvidenceMessage.RefusalReason> reason) implements WorkerStateEvent {}

    /**
     * @param renewal after which the certificate wants a newer one
     * @param target of this VM
     */
    record HandoverAccepted(Duration lease, Duration renewal, HandoverTarget target) implements WorkerStateEvent {}

    /**
     * What was given, first or anew.
     *
     * @param phase to which belongs the check or the change that failed
     */
    record HandoverRejected(BootPhase phase, String code) implements WorkerStateEvent {}

    /**
     * @param fresh of the circuit on which it came
     * @param renewal after which the certificate wants a newer one
     */
    record ReadmissionApplied(Nonce fresh, Duration lease, Duration renewal) implements WorkerStateEvent {}

    record StepApplied(SetupStep step) implements WorkerStateEvent {}

    record StepFailed(SetupStep step) implements WorkerStateEvent {}

    /** As far as it could be. */
    record StepUndone(SetupStep step) implements WorkerStateEvent {}

    /** @param part the worker's, of the receipt: an envelope; empty if it could not be made */
    record StatementSigned(Optional<ByteString> part) implements WorkerStateEvent {}

    /** SIGTERM. */
    record StopRequested() implements WorkerStateEvent {}

    /**
     * The host ends this VM.
     *
     * @param within whatever it does
     */
    record HostShutdown(Duration within) implements WorkerStateEvent {}

    /** {@link WorkerStateMachine#wakeNs} is past. */
    record TimerExpired() implements WorkerStateEvent {}
}
