package org.cloister.vm.handover;

import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.cloister.protocol.evidence.Clause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.CloseReason;
import org.cloister.vm.Strangers;
import org.cloister.vm.worker.WorkerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives circuits that show a boot certificate, from the question to the hand-over. The other end is unauthenticated until a
 * statement arrives that the slot's host signed for its key: before that its words change nothing. A slot that was handed over
 * answers such circuits with {@code spent}. Not for several threads.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class Arrivals {
    private static final Logger LOG = LoggerFactory.getLogger(Arrivals.class);

    private final Arriving arriving;
    private final Returning returning;
    private final Strangers strangers;
    private final InstantSource clock;
    private final BiConsumer<Name, Optional<WorkerTalk>> listen;
    private final Consumer<WorkerEvent> news;
    private final Unproven<WorkerTalk> unproven =
            new Unproven<>(talk -> talk.circuit().shown().key());

    /** @param listen given the one circuit of a slot that is listened to from now on, or that there is none */
    Arrivals(
            Arriving arriving,
            Returning returning,
            Strangers strangers,
            InstantSource clock,
            BiConsumer<Name, Optional<WorkerTalk>> listen,
            Consumer<WorkerEvent> news) {
        this.arriving = arriving;
        this.returning = returning;
        this.strangers = strangers;
        this.clock = clock;
        this.listen = listen;
        this.news = news;
    }

    boolean has(Name worker, WorkerTalk talk) {
        return unproven.has(worker, talk);
    }

    void remove(Name worker, WorkerTalk talk) {
        unproven.remove(worker, talk);
    }

    List<WorkerTalk> removeAll(Name worker) {
        return unproven.removeAll(worker);
    }

    void forget(String ticket) throws IOException {
        arriving.forget(ticket);
    }

    void arrives(Expected.Place place, Name worker, WorkerTalk talk) {
        if (arriving.isSpent(place)) {
            spent(place, worker, talk);
            return;
        }
        for (WorkerTalk each : unproven.add(worker, talk)) {
            each.circuit().end(CloseReason.LIMIT);
        }
        talk.say(new VerifierMessage.Question(
                arriving.question(place, talk.circuit().shown().key())));
    }

    private void spent(Expected.Place place, Name worker, WorkerTalk talk) {
        talk.deny(List.of(Clause.SPENT.id()));
        if (returning.stranger(place, talk.circuit().shown()).isEmpty()) {
            // The key is the one that was handed over to: the hand-over was lost with its circuit, and the slot with
            // it.
            LOG.warn(
                    "worker {} of ticket {}: its hand-over was lost",
                    place.slot().slot(),
                    place.ticket());
            listen.accept(worker, Optional.empty());
            news.accept(WorkerNews.lost(place));
        } else if (strangers.another()) {
            LOG.warn(
                    "worker {} of ticket {}: refused: it was handed over to another key; {}",
                    place.slot().slot(),
                    place.ticket(),
                    strangers);
        }
    }

    /** Its evidence alone counts. A worker that has none comes again, or its host ends it. */
    void heard(Expected.Place place, Name worker, WorkerTalk on, VmMessage message) throws IOException {
        if (message instanceof VmMessage.Shown shown) {
            unproven.remove(worker, on);
            shown(place, worker, on, shown);
        } else if (!(message instanceof VmMessage.Skipped)) {
            unproven.remove(worker, on);
            on.end();
            if (strangers.another()) {
                LOG.warn(
                        "worker {} of ticket {}: instead of its evidence it says {}; {}",
                        place.slot().slot(),
                        place.ticket(),
                        message,
                        strangers);
            }
        }
    }

    private void shown(Expected.Place place, Name worker, WorkerTalk on, VmMessage.Shown shown) throws IOException {
        Arriving.Answer answer = arriving.answer(place, on, shown, clock.instant());
        if (answer instanceof Arriving.Answer.Deny deny) {
            on.deny(deny.clauses());
            if (deny.own()) {
                news.accept(WorkerNews.gone(
                        place, BootPhase.EVIDENCE, "denied-" + deny.clauses().get(0)));
            }
            return;
        }
        for (WorkerTalk each : unproven.removeAll(worker)) {
            each.deny(List.of(Clause.SPENT.id()));
        }
        if (answer instanceof Arriving.Answer.Give give) {
            on.give(give.handOver());
            listen.accept(worker, Optional.of(on));
        } else {
            on.end();
            news.accept(WorkerNews.gone(place, BootPhase.KEYS, "controller"));
        }
    }
}
