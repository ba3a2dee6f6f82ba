package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appraises workers that have no certificate yet. A worker gets the same nonce however often its circuit breaks, since
 * a host signs evidence once in a VM's life. A slot is handed over once, after accepted evidence. No state is kept
 * about workers that only received a nonce. Not thread-safe.
 */
final class WorkerAttestation {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerAttestation.class);

    /** Clauses that a statement fails if it is not about this circuit's VM as the worker of this slot. */
    private static final Set<EvidenceClause> NOT_THIS_WORKER = EnumSet.of(
            EvidenceClause.SIGNATURE,
            EvidenceClause.FORMAT,
            EvidenceClause.PROJECT,
            EvidenceClause.ROLE,
            EvidenceClause.TICKET,
            EvidenceClause.SLOT,
            EvidenceClause.CIRCUIT,
            EvidenceClause.SPENT);

    /** Equals the tolerance for statements. */
    private static final Duration LOGGED_DIFFERENCE = Duration.ofMinutes(2);

    private final AdmissionContext context;
    private final HandoverLedger ledger;
    private final EvidenceAppraiser appraiser;
    private final Provisioner provisioner;
    private final WorkerReadmission readmission;
    private final HandoverRecorder recorder;
    private final UnauthenticatedPeerCounter unauthenticatedPeers;
    private final AttestationNonces nonces = new AttestationNonces(new SecureRandom());

    sealed interface Decision {
        /** The hand-over is recorded everywhere and can be sent. */
        record Admit(HandoverDocument handover) implements Decision {}

        /**
         * @param hostVouched whether the slot's host signed for exactly this VM: the slot has had its worker, and gets
         *     no other
         */
        record Deny(List<String> clauses, boolean hostVouched) implements Decision {}

        /** The slot is spent, but there is nothing to hand over. */
        record Unavailable() implements Decision {}
    }

    /** @param readmission records workers that received a hand-over, which may reconnect */
    WorkerAttestation(
            AdmissionContext context,
            HandoverLedger ledger,
            Provisioner provisioner,
            WorkerReadmission readmission,
            HandoverRecorder recorder,
            UnauthenticatedPeerCounter unauthenticatedPeers) {
        this.context = context;
        this.ledger = ledger;
        this.appraiser = new EvidenceAppraiser(context, ledger);
        this.provisioner = provisioner;
        this.readmission = readmission;
        this.recorder = recorder;
        this.unauthenticatedPeers = unauthenticatedPeers;
    }

    /** Returns whether the slot was handed over, to any worker. */
    boolean isSpent(ExpectedWorkers.ExpectedSlot expected) {
        return ledger.isSpent(expected.ticket(), expected.slot().slot());
    }

    /**
     * Returns the nonce for a worker.
     *
     * @param key its boot key
     */
    Nonce nonceFor(ExpectedWorkers.ExpectedSlot expected, VerificationKey key) {
        return nonces.of(expected.ticket(), expected.slot().slot(), key);
    }

    /**
     * Appraises a worker's evidence and, if it is accepted, spends the slot.
     *
     * @throws IOException if the spent slot cannot be recorded; nothing was changed
     */
    Decision appraise(
            ExpectedWorkers.ExpectedSlot expected, WorkerSession session, VmMessage.Evidence evidence, Instant now)
            throws IOException {
        String ticket = expected.ticket();
        int slot = expected.slot().slot();
        Nonce nonce = nonceFor(expected, session.circuit().peerIdentity().key());
        AttestationResult result = appraiser.appraise(expected, session, nonce, evidence, now);
        if (result instanceof AttestationResult.Refused refused) {
            return deny(expected, refused);
        }
        AttestationResult.Accepted accepted = (AttestationResult.Accepted) result;
        ledger.recordHandover(
                ticket, slot, nonce.digest().hex(), context.policy().serial());
        warnOfClockDifference(expected, Duration.between(now, evidence.clock()).abs());
        try {
            HandoverTarget target = new HandoverTarget(
                    ticket, slot, accepted.statement().facts().vm(), nonce);
            HandoverDocument handover =
                    provisioner.provision(target, expected.allocation(), expected.slot(), accepted.statement());
            readmission.recordHandover(
                    handover.name(), AdmittedWorker.of(handover, expected.slot(), accepted.statement()));
            recorder.recordHandover(target, evidence.statement(), handover);
            return new Decision.Admit(handover);
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: the hand-over failed: {}", slot, ticket, e.getMessage());
            return new Decision.Unavailable();
        }
    }

    private Decision deny(ExpectedWorkers.ExpectedSlot expected, AttestationResult.Refused refused) {
        List<EvidenceClause> clauses = refused.failures().stream()
                .map(AttestationResult.Failure::clause)
                .distinct()
                .toList();
        boolean hostVouched = clauses.stream().noneMatch(NOT_THIS_WORKER::contains);
        if (hostVouched || unauthenticatedPeers.countEvent()) {
            LOG.warn(
                    "worker {} of ticket {}: evidence refused: {}{}",
                    expected.slot().slot(),
                    expected.ticket(),
                    refused,
                    hostVouched ? "" : "; " + unauthenticatedPeers);
        }
        return new Decision.Deny(clauses.stream().map(EvidenceClause::id).toList(), hostVouched);
    }

    private static void warnOfClockDifference(ExpectedWorkers.ExpectedSlot expected, Duration difference) {
        if (difference.compareTo(LOGGED_DIFFERENCE) > 0) {
            LOG.warn(
                    "worker {} of ticket {}: its clock is {} s from ours; the hand-over sets it;"
                            + " check the host's clock",
                    expected.slot().slot(),
                    expected.ticket(),
                    difference.toSeconds());
        }
    }

    /** Deletes the records of a ticket whose workers are no longer expected. */
    void forget(String ticket) throws IOException {
        ledger.forget(ticket);
    }
}
