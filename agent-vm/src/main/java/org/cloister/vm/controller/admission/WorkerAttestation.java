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
import org.cloister.vm.metrics.UnauthenticatedPeerCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers that nobody has certified yet: each is asked the same question however often its circuit breaks, for a host vouches
 * once for a VM's life, and is handed over to once a slot, after evidence that holds. Keeps nothing of who was asked. Not for
 * several threads.
 */
final class WorkerAttestation {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerAttestation.class);

    /** Clauses by which a statement is not about this circuit's VM as the worker of this slot. */
    private static final Set<EvidenceClause> OF_STRANGERS = EnumSet.of(
            EvidenceClause.SIGNATURE,
            EvidenceClause.FORMAT,
            EvidenceClause.PROJECT,
            EvidenceClause.ROLE,
            EvidenceClause.TICKET,
            EvidenceClause.SLOT,
            EvidenceClause.CIRCUIT,
            EvidenceClause.SPENT);

    /** As statements may be. */
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
        /** All who are to know of it do. */
        record Admit(HandoverDocument handOver) implements Decision {}

        /**
         * @param hostVouched whether the slot's host vouched for this very VM: the slot has had its worker, and gets no
         *     other
         */
        record Deny(List<String> clauses, boolean hostVouched) implements Decision {}

        /** Its slot is spent, and there is nothing for it. */
        record Unavailable() implements Decision {}
    }

    /** @param returning hears who was given something, and so may come back */
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

    /** Whether the slot was handed over, to whomever. */
    boolean isSpent(ExpectedWorkers.ExpectedSlot place) {
        return spent.isSpent(place.ticket(), place.slot().slot());
    }

    /** @param key of its boot */
    Nonce nonceFor(ExpectedWorkers.ExpectedSlot place, VerificationKey key) {
        return questions.of(place.ticket(), place.slot().slot(), key);
    }

    /** @throws IOException that the slot is spent cannot be noted, and nothing was changed */
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

    /** Nobody of the ticket comes any more. */
    void forget(String ticket) throws IOException {
        spent.forget(ticket);
    }
}
