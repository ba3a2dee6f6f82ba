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
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
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
    private final UnauthenticatedPeerCounter unauthenticatedPeers;
    private final AttestationNonces nonces = new AttestationNonces(new SecureRandom());

    sealed interface Decision {
        /** The slot is spent, and the hand-over can be prepared. */
        record Accept(ProvisioningRequest.Handover request) implements Decision {}

        /**
         * @param hostVouched whether the slot's host signed for exactly this VM: the slot has had its worker, and gets
         *     no other
         */
        record Deny(List<String> clauses, boolean hostVouched) implements Decision {}
    }

    WorkerAttestation(
            AdmissionContext context, HandoverLedger ledger, UnauthenticatedPeerCounter unauthenticatedPeers) {
        this.context = context;
        this.ledger = ledger;
        this.appraiser = new EvidenceAppraiser(context, ledger);
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

    /** Appraises a worker's evidence and, if it is accepted, spends the slot. */
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
        EvidenceStatement statement = ((AttestationResult.Accepted) result).statement();
        warnOfClockDifference(expected, Duration.between(now, evidence.clock()).abs());
        return new Decision.Accept(new ProvisioningRequest.Handover(
                expected,
                session,
                evidence.statement(),
                statement,
                new HandoverTarget(ticket, slot, statement.facts().vm(), nonce),
                ledger.spend(
                        ticket, slot, nonce.digest().hex(), context.policy().serial())));
    }

    /** Takes back the slot of a hand-over that could not be recorded. */
    void restore(ProvisioningRequest.Handover request) {
        ledger.restore(request.spent());
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

    /** Removes a ticket whose workers are no longer expected. */
    void forget(String ticket) {
        ledger.forget(ticket);
    }
}
