package org.cloister.vm.handover;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Clause;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Verdict;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.Strangers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers that nobody has certified yet: each is asked the same question however often its circuit breaks, for a host vouches
 * once for a VM's life, and is handed over to once a slot, after evidence that holds. Keeps nothing of who was asked. Not for
 * several threads.
 */
final class Arriving {
    private static final Logger LOG = LoggerFactory.getLogger(Arriving.class);

    /** Clauses by which a statement is not about this circuit's VM as the worker of this slot. */
    private static final Set<Clause> OF_STRANGERS = EnumSet.of(
            Clause.SIGNATURE,
            Clause.FORMAT,
            Clause.PROJECT,
            Clause.ROLE,
            Clause.TICKET,
            Clause.SLOT,
            Clause.CIRCUIT,
            Clause.SPENT);

    /** As statements may be. */
    private static final Duration CLOCKS_APART = Duration.ofMinutes(2);

    private final HandOverDesk.Terms terms;
    private final SpentBook spent;
    private final Judge judge;
    private final Giver giver;
    private final Returning returning;
    private final Lives lives;
    private final Strangers strangers;
    private final Questions questions = new Questions(new SecureRandom());

    sealed interface Answer {
        /** All who are to know of it do. */
        record Give(HandOver handOver) implements Answer {}

        /** @param own whether the slot's host vouched for this very VM: the slot has had its worker, and gets no other */
        record Deny(List<String> clauses, boolean own) implements Answer {}

        /** Its slot is spent, and there is nothing for it. */
        record Nothing() implements Answer {}
    }

    /** @param returning hears who was given something, and so may come back */
    Arriving(
            HandOverDesk.Terms terms,
            SpentBook spent,
            Giver giver,
            Returning returning,
            Lives lives,
            Strangers strangers) {
        this.terms = terms;
        this.spent = spent;
        this.judge = new Judge(terms, spent);
        this.giver = giver;
        this.returning = returning;
        this.lives = lives;
        this.strangers = strangers;
    }

    /** Whether the slot was handed over, to whomever. */
    boolean isSpent(Expected.Place place) {
        return spent.isSpent(place.ticket(), place.slot().slot());
    }

    /** @param key of its boot */
    Nonce question(Expected.Place place, VerificationKey key) {
        return questions.of(place.ticket(), place.slot().slot(), key);
    }

    /** @throws IOException that the slot is spent cannot be noted, and nothing was changed */
    Answer answer(Expected.Place place, WorkerTalk on, VmMessage.Shown shown, Instant now) throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        Nonce nonce = question(place, on.circuit().shown().key());
        Verdict verdict = judge.judge(place, on, nonce, shown, now);
        if (verdict instanceof Verdict.Refused refused) {
            return refused(place, refused);
        }
        Verdict.Accepted accepted = (Verdict.Accepted) verdict;
        spent.spend(ticket, slot, nonce.digest().hex(), terms.policy().serial());
        sayIfApart(place, Duration.between(now, shown.clock()).abs());
        try {
            Place at = new Place(ticket, slot, accepted.statement().facts().vm(), nonce);
            HandOver handOver = giver.give(at, place.allocation(), place.slot(), accepted.statement());
            returning.given(handOver.name(), Guest.of(handOver, place.slot(), accepted.statement()));
            lives.gave(at, shown.statement(), handOver);
            return new Answer.Give(handOver);
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: nothing to hand over: {}", slot, ticket, e.getMessage());
            return new Answer.Nothing();
        }
    }

    private Answer refused(Expected.Place place, Verdict.Refused refused) {
        List<Clause> clauses = refused.failures().stream()
                .map(Verdict.Failure::clause)
                .distinct()
                .toList();
        boolean own = clauses.stream().noneMatch(OF_STRANGERS::contains);
        if (own || strangers.another()) {
            LOG.warn(
                    "worker {} of ticket {}: evidence refused: {}{}",
                    place.slot().slot(),
                    place.ticket(),
                    refused,
                    own ? "" : "; " + strangers);
        }
        return new Answer.Deny(clauses.stream().map(Clause::id).toList(), own);
    }

    private static void sayIfApart(Expected.Place place, Duration apart) {
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
