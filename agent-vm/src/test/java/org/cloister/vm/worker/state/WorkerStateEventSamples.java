package org.cloister.vm.worker.state;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverFixture;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;

/** Events of a worker's host and of its controlling VM. */
final class WorkerStateEventSamples {
    static final Nonce NONCE = Nonce.random(new SecureRandom());
    static final HandoverDocument HAND_OVER = handOver();
    static final ByteString STATEMENT = statement();
    /** Of a circuit. */
    static final Nonce FRESH = Nonce.random(new SecureRandom());

    static final HandoverTarget PLACE = new HandoverTarget(BootFixture.TICKET, 3, "tq4bcfcxfokh6sbolidgqd2f3i", NONCE);
    static final VmMessage.Resume RESUME = new VmMessage.Resume(PLACE.ticket(), PLACE.slot(), PLACE.vm(), FRESH);
    static final ReadmissionGrant READMISSION = readmission();

    private WorkerStateEventSamples() {}

    static WorkerStateEvent.EvidenceReceived vouched() {
        return new WorkerStateEvent.EvidenceReceived(NONCE, STATEMENT, Instant.EPOCH);
    }

    /** Of a worker that is a node. */
    static WorkerStateMachine serving(long nowNs) {
        WorkerStateMachine stateMachine = upTo(SetupStep.SLURMD, nowNs);
        stateMachine.on(new WorkerStateEvent.StepApplied(SetupStep.SLURMD), nowNs);
        return stateMachine;
    }

    /** Of a worker that has begun this step. */
    static WorkerStateMachine upTo(SetupStep last, long nowNs) {
        WorkerStateMachine stateMachine = WorkerStateMachine.create(Duration.ofSeconds(4), nowNs);
        for (WorkerStateEvent event : List.of(
                new WorkerStateEvent.ChannelAttached(),
                new WorkerStateEvent.CircuitOpened(FRESH),
                new WorkerStateEvent.MessageReceived(new VerifierMessage.Question(NONCE)),
                vouched(),
                new WorkerStateEvent.MessageReceived(HAND_OVER),
                new WorkerStateEvent.HandoverAccepted(Duration.ofMinutes(10), Duration.ofHours(12), PLACE))) {
            stateMachine.on(event, nowNs);
        }
        for (SetupStep step : EnumSet.range(SetupStep.MEMORY, last)) {
            if (step != last) {
                stateMachine.on(new WorkerStateEvent.StepApplied(step), nowNs);
            }
        }
        return stateMachine;
    }

    private static HandoverDocument handOver() {
        try {
            return new HandoverFixture().handOver();
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static ReadmissionGrant readmission() {
        try {
            return new HandoverFixture().readmission();
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static ByteString statement() {
        try {
            SigningKey key = SigningKey.of(BootFixture.pair(SignatureCurve.P256));
            return ByteString.copyFrom(
                    DsseEnvelope.sign(EvidenceStatement.TYPE, new byte[2], key).bytes());
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
