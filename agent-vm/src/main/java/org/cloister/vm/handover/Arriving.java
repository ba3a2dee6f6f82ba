package org.cloister.vm.handover;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Verdict;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.VmMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers that nobody has certified yet: each is asked the same question however often its circuit breaks, for a host vouches
 * once for a VM's life, and is handed over to once a slot, after evidence that holds. Not for several threads.
 */
final class Arriving {
    private static final Logger LOG = LoggerFactory.getLogger(Arriving.class);

    /** As statements may be. */
    private static final Duration CLOCKS_APART = Duration.ofMinutes(2);

    private final HandOverDesk.Terms terms;
    private final SpentBook spent;
    private final Judge judge;
    private final Giver giver;
    private final Returning returning;
    private final Lives lives;
    private final SecureRandom random = new SecureRandom();
    private final Map<VerificationKey, Nonce> nonces = new HashMap<>();

    sealed interface Answer {
        /** All who are to know of it do. */
        record Give(HandOver handOver) implements Answer {}

        record Deny(List<String> clauses) implements Answer {}

        /** Its slot is spent, and there is nothing for it. */
        record Nothing() implements Answer {}
    }

    /** @param returning hears who was given something, and so may come back */
    Arriving(HandOverDesk.Terms terms, SpentBook spent, Giver giver, Returning returning, Lives lives) {
        this.terms = terms;
        this.spent = spent;
        this.judge = new Judge(terms, spent);
        this.giver = giver;
        this.returning = returning;
        this.lives = lives;
    }

    /** @param key of its boot */
    Nonce question(VerificationKey key) {
        return nonces.computeIfAbsent(key, each -> Nonce.random(random));
    }

    /** @throws IOException that the slot is spent cannot be noted, and nothing was changed */
    Answer answer(Expected.Place place, WorkerTalk on, VmMessage.Shown shown, Instant now) throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        VerificationKey key = on.circuit().shown().key();
        Duration apart = Duration.between(now, shown.clock()).abs();
        if (apart.compareTo(CLOCKS_APART) > 0) {
            LOG.warn(
                    "worker {} of ticket {}: its clock is {} s from ours; the hand-over sets it; look at the host's",
                    slot,
                    ticket,
                    apart.toSeconds());
        }
        Nonce nonce = nonces.getOrDefault(key, Nonce.random(random));
        Verdict verdict = judge.judge(place, on, nonce, shown, now);
        if (verdict instanceof Verdict.Refused refused) {
            LOG.warn("worker {} of ticket {}: evidence refused: {}", slot, ticket, refused);
            return new Answer.Deny(refused.failures().stream()
                    .map(failure -> failure.clause().id())
                    .distinct()
                    .toList());
        }
        Verdict.Accepted accepted = (Verdict.Accepted) verdict;
        spent.spend(ticket, slot, nonce.digest().hex(), terms.policy().serial());
        nonces.remove(key);
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

    /** Nobody of the ticket comes any more. */
    void forget(String ticket) throws IOException {
        spent.forget(ticket);
    }
}
