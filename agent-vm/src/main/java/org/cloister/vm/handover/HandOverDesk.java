package org.cloister.vm.handover;

import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Clause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.Strangers;
import org.cloister.vm.ticket.Slots;
import org.cloister.vm.worker.WorkerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers of the project's tickets come here by circuits, show what they are, and are handed over to once a slot; then their
 * circuits tell how they go, and that they are to end, or that nobody believes them any more. What is said on a circuit before
 * the slot's host has vouched for it changes nothing. All is decided on one thread.
 */
public final class HandOverDesk implements Slots, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HandOverDesk.class);

    private final Terms terms;
    private final Giver giver;
    private final Returning returning;
    private final Lives lives;
    private final Executor decisions;
    private final InstantSource clock;
    private final Consumer<WorkerEvent> news;
    private final Expected expected = new Expected();
    /** By slot's name, of those that were handed over to: one worker is listened to at a time. */
    private final Map<Name, WorkerTalk> talks = new HashMap<>();

    private final Arrivals arrivals;
    private final Strangers strangers;
    /** Of boot circuits, a worker's among them. */
    private final Strangers breaks = new Strangers(() -> {});

    private final Lapses lapses;
    private final Set<String> released = new HashSet<>();

    /**
     * What the controlling VM is and believes.
     *
     * @param own of its name, of this boot, as it is when a circuit opens
     * @param beliefs whose workers hold: whom a controlling VM of this name has certified, this one or one before it
     * @param allocations opens a relay's signed allocation
     * @param policy the owners', in force
     * @param driveIntegrity whether changes of the project's drive are noticed
     */
    public record Terms(
            Supplier<Credential> own,
            Beliefs beliefs,
            Opened allocations,
            Policy policy,
            Hosts hosts,
            boolean driveIntegrity) {
        Trust workers() {
            return Trust.in(beliefs, Set.of(Role.WORKER));
        }
    }

    /**
     * The site's word for hosts, by their keys, as it is now.
     *
     * @param revoked whether nothing is to be given to a worker there
     * @param takenBack whether a worker that was given something is to end
     */
    public record Hosts(Predicate<VerificationKey> revoked, Predicate<VerificationKey> takenBack) {}

    /** What the project's drive has of those who were handed over to. */
    public record Books(SpentBook spent, GuestBook guests) {}

    /**
     * Whom the desk tells what it hears.
     *
     * @param news what workers say
     * @param stranger of each circuit, or call for one, that is no worker's; from any thread
     */
    public record Reports(Consumer<WorkerEvent> news, Runnable stranger) {}

    /** Opens an allocation that somebody shows. */
    @FunctionalInterface
    public interface Opened {
        /** @throws IOException if no relay of the site signed it */
        Allocation open(byte[] envelope) throws IOException;
    }

    /** @param decisions one thread, that of {@link Slots}' calls too */
    public HandOverDesk(
            Terms terms,
            Books books,
            Giver giver,
            Lives lives,
            Executor decisions,
            InstantSource clock,
            Reports reports) {
        this.terms = terms;
        this.giver = giver;
        this.returning = new Returning(books.guests(), terms, giver);
        this.strangers = new Strangers(reports.stranger());
        this.arrivals = new Arrivals(
                new Arriving(terms, books.spent(), giver, returning, lives, strangers),
                returning,
                strangers,
                clock,
                this::listen,
                reports.news());
        this.lapses = new Lapses(terms, expected, returning, decisions, this::lapsed);
        this.lives = lives;
        this.decisions = decisions;
        this.clock = clock;
        this.news = reports.news();
    }

    @Override
    public int expect(Ticket ticket, OfficeMessage.Update update) throws IOException {
        Allocation allocation = terms.allocations().open(update.allocation().toByteArray());
        expected.add(ticket, allocation);
        return allocation.slots().size();
    }

    @Override
    public void release(String ticket) {
        released.add(ticket);
        of(ticket).forEach(talk -> talk.say(new VerifierMessage.Release()));
    }

    @Override
    public void forget(String ticket) {
        of(ticket).forEach(WorkerTalk::end);
        released.remove(ticket);
        List<Name> workers = expected.remove(ticket);
        workers.forEach(worker -> arrivals.removeAll(worker).forEach(WorkerTalk::end));
        giver.dismiss(ticket);
        try {
            returning.forget(ticket, workers);
            arrivals.forget(ticket);
        } catch (IOException e) {
            // Nobody is expected for it, so nothing can be spent of it; the file is in the way of nobody.
            LOG.warn("ticket {}: what was given of it is not forgotten: {}", ticket, e.toString());
        }
    }

    /** A worker calls, or whoever says so. On the link's event loop. */
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        decisions.execute(() -> {
            if (expected.find(dial.from()).isEmpty()) {
                if (strangers.another()) {
                    LOG.warn("worker {}: not expected; {}", dial.from(), strangers);
                }
                attachment.refuse(dial, CloseReason.REFUSED);
                return;
            }
            Credential own = terms.own().get();
            Circuit.dialBack(
                            attachment.link(),
                            dial,
                            own,
                            BootTrust.bootingOr(terms.workers()),
                            (pipeline, circuit) -> install(pipeline, circuit, own))
                    .addListener((Future<Circuit> opened) -> {
                        if (!opened.isSuccess() && strangers.another()) {
                            LOG.warn(
                                    "worker {}: no circuit: {}; {}",
                                    dial.from(),
                                    opened.cause().getMessage(),
                                    strangers);
                        }
                    });
        });
    }

    /**
     * Talks on a circuit with a worker.
     *
     * @param own what this end has shown in it
     */
    void install(ChannelPipeline pipeline, Circuit circuit, Credential own) {
        pipeline.addLast(new Framing(LinkLimits.FROM_BOOTING_BYTES, VmMessage::read), talk(circuit, own));
    }

    private WorkerTalk talk(Circuit circuit, Credential own) {
        Name worker = circuit.terms().from();
        WorkerTalk talk = new WorkerTalk(
                circuit,
                own,
                (on, message) -> decide(worker, on, () -> heard(worker, on, message)),
                on -> decisions.execute(() -> {
                    talks.remove(worker, on);
                    arrivals.remove(worker, on);
                }),
                breaks,
                LinkLimits.EVIDENCE_TIME);
        lapses.opened(talk);
        decide(worker, talk, () -> begin(worker, talk));
        return talk;
    }

    private void begin(Name worker, WorkerTalk talk) {
        Optional<Expected.Place> known = expected.find(worker);
        if (known.isEmpty()) {
            talk.end();
        } else if (talk.boots()) {
            arrivals.arrives(known.get(), worker, talk);
        } else {
            Optional<Returning.Answer.Refuse> stranger =
                    returning.stranger(known.get(), talk.circuit().shown());
            if (stranger.isPresent()) {
                // The slot's own worker may be on another circuit, and stays there.
                talk.deny(known.get(), List.of(stranger.get().clause()));
            } else {
                listen(worker, Optional.of(talk));
            }
        }
    }

    /** To this circuit alone, or to none of the slot. */
    private void listen(Name worker, Optional<WorkerTalk> talk) {
        WorkerTalk before = talk.isPresent() ? talks.put(worker, talk.get()) : talks.remove(worker);
        if (before != null) {
            before.end();
        }
    }

    private void heard(Name worker, WorkerTalk on, VmMessage message) throws IOException {
        Optional<Expected.Place> known = expected.find(worker);
        if (known.isPresent() && arrivals.has(worker, on)) {
            arrivals.heard(known.get(), worker, on, message);
            return;
        }
        if (known.isEmpty() || talks.get(worker) != on) {
            on.end();
            return;
        }
        Expected.Place place = known.get();
        String ticket = place.ticket();
        int slot = place.slot().slot();
        if (message instanceof VmMessage.Passed passed) {
            WorkerNews.passed(place, passed).ifPresent(news);
        } else if (message instanceof VmMessage.Ready) {
            on.readied();
            ready(place, worker, on);
        } else if (message instanceof VmMessage.Trouble trouble) {
            gone(place, trouble.phase(), trouble.code());
        } else if (message instanceof VmMessage.Part part) {
            lives.ended(ticket, slot, part.statement());
        } else if (message instanceof VmMessage.Beat) {
            on.say(new VerifierMessage.Beat());
        } else if (message instanceof VmMessage.Resume resume) {
            resumed(place, on, resume);
        } else if (message instanceof VmMessage.Readmitted done && on.confirms(done)) {
            returning.readmitted(worker);
            LOG.info("worker {} of ticket {}: has what it had, anew", slot, ticket);
            ready(place, worker, on);
        }
    }

    /** A node is one when it has what this boot gives: before, nothing here reaches it. */
    private void ready(Expected.Place place, Name worker, WorkerTalk on) {
        if (on.isReady() && returning.isHere(worker)) {
            news.accept(WorkerNews.ready(place));
        }
    }

    private void resumed(Expected.Place place, WorkerTalk on, VmMessage.Resume resume) {
        if (released.contains(place.ticket())) {
            on.say(new VerifierMessage.Release());
            return;
        }
        Returning.Answer answer = returning.answer(place, on.circuit().peer(), resume, clock.instant());
        if (answer instanceof Returning.Answer.Refuse refuse) {
            on.deny(place, List.of(refuse.clause()));
            if (refuse.lost()) {
                gone(place, BootPhase.KEYS, "denied-" + refuse.clause());
            }
        } else if (answer instanceof Returning.Answer.Anew anew) {
            readmit(on, resume, anew);
        }
    }

    private void readmit(WorkerTalk on, VmMessage.Resume resume, Returning.Answer.Anew anew) {
        try {
            on.readmit(giver.readmit(anew.guest(), resume.fresh(), anew.key()));
        } catch (IOException e) {
            LOG.error("worker {} of ticket {}: not readmitted yet: {}", resume.slot(), resume.ticket(), e.getMessage());
            // One that has a certificate of today goes on with it; another one comes again.
            if (anew.key()) {
                on.end();
            }
        }
    }

    private void lapsed(Name worker, Expected.Place place) {
        WorkerTalk talk = talks.get(worker);
        if (talk != null) {
            talk.deny(place, List.of(Clause.REVOKED.id()));
        }
        gone(place, BootPhase.KEYS, "denied-" + Clause.REVOKED.id());
    }

    /** Looks no more; circuits end with their link. */
    @Override
    public void close() {
        lapses.close();
    }

    private void gone(Expected.Place place, BootPhase at, String code) {
        news.accept(WorkerNews.gone(place, at, code));
    }

    private List<WorkerTalk> of(String ticket) {
        List<WorkerTalk> all = new ArrayList<>();
        talks.forEach((name, talk) -> {
            if (expected.find(name)
                    .filter(place -> place.ticket().equals(ticket))
                    .isPresent()) {
                all.add(talk);
            }
        });
        return all;
    }

    @FunctionalInterface
    private interface Act {
        void run() throws IOException;
    }

    /** @param on the circuit that it is about, which ends if it fails: another one of the slot has no part in it */
    private void decide(Name worker, WorkerTalk on, Act act) {
        decisions.execute(() -> {
            try {
                act.run();
            } catch (IOException | RuntimeException e) {
                LOG.error("worker {}: {}", worker, e.toString());
                on.end();
            }
        });
    }
}
