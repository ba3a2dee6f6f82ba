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

/** An event that a {@link WorkerStateMachine} receives. */
public sealed interface WorkerStateEvent {
    /** The channel to the host is attached. */
    record ChannelAttached() implements WorkerStateEvent {}

    record ChannelLost() implements WorkerStateEvent {}

    /**
     * The requested circuit is open.
     *
     * @param fresh value that belongs to this circuit only
     */
    record CircuitOpened(Nonce fresh) implements WorkerStateEvent {}

    /** The circuit closed, or could not be opened. */
    record CircuitClosed() implements WorkerStateEvent {}

    record MessageReceived(VerifierMessage message) implements WorkerStateEvent {}

    /**
     * The host signed evidence.
     *
     * @param nonce of the request
     * @param clock this VM's
     */
    record EvidenceReceived(Nonce nonce, ByteString statement, Instant clock) implements WorkerStateEvent {}

    /**
     * The host signed no evidence.
     *
     * @param reason empty if the host did not answer
     */
    record EvidenceRefused(Nonce nonce, Optional<EvidenceMessage.RefusalReason> reason) implements WorkerStateEvent {}

    /**
     * A hand-over is verified and opened.
     *
     * @param renewal time after which the certificate is due for renewal
     * @param target of this VM
     */
    record HandoverAccepted(Duration lease, Duration renewal, HandoverTarget target) implements WorkerStateEvent {}

    /**
     * A hand-over or a readmission was refused or could not be applied.
     *
     * @param phase of the check or the change that failed
     */
    record HandoverRejected(BootPhase phase, String code) implements WorkerStateEvent {}

    /**
     * A readmission is applied.
     *
     * @param fresh of the circuit on which it was received
     * @param renewal time after which the certificate is due for renewal
     */
    record ReadmissionApplied(Nonce fresh, Duration lease, Duration renewal) implements WorkerStateEvent {}

    record StepApplied(SetupStep step) implements WorkerStateEvent {}

    record StepFailed(SetupStep step) implements WorkerStateEvent {}

    /** A step is undone as far as possible. */
    record StepUndone(SetupStep step) implements WorkerStateEvent {}

    /**
     * The worker's part of the receipt is signed.
     *
     * @param part an envelope; empty if it could not be made
     */
    record StatementSigned(Optional<ByteString> part) implements WorkerStateEvent {}

    /** SIGTERM was received. */
    record StopRequested() implements WorkerStateEvent {}

    /**
     * The host ends this VM.
     *
     * @param within time until the host ends it, even if the VM is still shutting down
     */
    record HostShutdown(Duration within) implements WorkerStateEvent {}

    /** The time of {@link WorkerStateMachine#wakeNs} has passed. */
    record TimerExpired() implements WorkerStateEvent {}
}
