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
    private static final Set<EvidenceClause> OF_STRANGERS = EnumSet.of(
            EvidenceClause.SIGNATURE,
            EvidenceClause.FORMAT,
            EvidenceClause.PROJECT,
            EvidenceClause.ROLE,
            EvidenceClause.TICKET,
            EvidenceClause.SLOT,
            EvidenceClause.CIRCUIT,
            EvidenceClause.SPENT);

    /** Equals the tolerance for statements. */
    private static final Duration CLOCKS_APART = Duration.ofMinutes(2);

    private final WorkerAdmission.Context terms;
    private final HandoverLedger spent;
    private final EvidenceAppraiser judge;
    private final Provisioner giver;
    private final WorkerReadmission returning;
    private final HandoverRecorder lives;
    private final UnauthenticatedPeerCounter strangers;
    private final AttestationNonces questions = new AttestationNonces(new SecureRandom());

    sealed interface Decision {
        /** The hand-over is recorded everywhere and can be sent. */
        record Admit(HandoverDocument handOver) implements Decision {}

        /**
         * @param hostVouched whether the slot's host signed for exactly this VM: the slot has had its worker, and gets
         *     no other
         */
        record Deny(List<String> clauses, boolean hostVouched) implements Decision {}

        /** The slot is spent, but there is nothing to hand over. */
        record Unavailable() implements Decision {}
    }

    /** @param returning records workers that received a hand-over, which may reconnect */
    WorkerAttestation(
            WorkerAdmission.Context terms,
            HandoverLedger spent,
            Provisioner giver,
            WorkerReadmission returning,
            HandoverRecorder lives,
            UnauthenticatedPeerCounter strangers) {
        this.terms = terms;
        this.spent = spent;
        this.judge = new EvidenceAppraiser(terms, spent);
        this.giver = giver;
        this.returning = returning;
        this.lives = lives;
        this.strangers = strangers;
    }

    /** Returns whether the slot was handed over, to any worker. */
    boolean isSpent(ExpectedWorkers.ExpectedSlot place) {
        return spent.isSpent(place.ticket(), place.slot().slot());
    }

    /**
     * Returns the nonce for a worker.
     *
     * @param key its boot key
     */
    Nonce nonceFor(ExpectedWorkers.ExpectedSlot place, VerificationKey key) {
        return questions.of(place.ticket(), place.slot().slot(), key);
    }

    /**
     * Appraises a worker's evidence and, if it is accepted, spends the slot.
     *
     * @throws IOException if the spent slot cannot be recorded; nothing was changed
     */
    Decision appraise(ExpectedWorkers.ExpectedSlot place, WorkerSession on, VmMessage.Evidence shown, Instant now)
            throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        Nonce nonce = nonceFor(place, on.circuit().peerIdentity().key());
        AttestationResult verdict = judge.appraise(place, on, nonce, shown, now);
        if (verdict instanceof AttestationResult.Refused refused) {
            return refused(place, refused);
        }
        AttestationResult.Accepted accepted = (AttestationResult.Accepted) verdict;
        spent.recordHandover(ticket, slot, nonce.digest().hex(), terms.policy().serial());
        warnOfClockDifference(place, Duration.between(now, shown.clock()).abs());
        try {
            HandoverTarget at = new HandoverTarget(
                    ticket, slot, accepted.statement().facts().vm(), nonce);
            HandoverDocument handOver = giver.provision(at, place.allocation(), place.slot(), accepted.statement());
            returning.recordHandover(handOver.name(), AdmittedWorker.of(handOver, place.slot(), accepted.statement()));
            lives.recordHandover(at, shown.statement(), handOver);
            return new Decision.Admit(handOver);
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: nothing to hand over: {}", slot, ticket, e.getMessage());
            return new Decision.Unavailable();
        }
    }

    private Decision refused(ExpectedWorkers.ExpectedSlot place, AttestationResult.Refused refused) {
        List<EvidenceClause> clauses = refused.failures().stream()
                .map(AttestationResult.Failure::clause)
                .distinct()
                .toList();
        boolean own = clauses.stream().noneMatch(OF_STRANGERS::contains);
        if (own || strangers.countEvent()) {
            LOG.warn(
                    "worker {} of ticket {}: evidence refused: {}{}",
                    place.slot().slot(),
                    place.ticket(),
                    refused,
                    own ? "" : "; " + strangers);
        }
        return new Decision.Deny(clauses.stream().map(EvidenceClause::id).toList(), own);
    }

    private static void warnOfClockDifference(ExpectedWorkers.ExpectedSlot place, Duration apart) {
        if (apart.compareTo(CLOCKS_APART) > 0) {
            LOG.warn(
                    "worker {} of ticket {}: its clock is {} s from ours; the hand-over sets it; look at the host's",
                    place.slot().slot(),
                    place.ticket(),
                    apart.toSeconds());
        }
    }

    /** Deletes the records of a ticket whose workers are no longer expected. */
    void forget(String ticket) throws IOException {
        spent.forget(ticket);
    }
}
