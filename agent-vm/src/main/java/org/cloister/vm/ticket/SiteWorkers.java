package org.cloister.vm.ticket;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.ticket.MemoryPlan;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Position;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.vm.scratch.ScratchSize;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Allocated;
import org.cloister.vm.worker.WorkerEvent.Ended;
import org.cloister.vm.worker.WorkerEvent.Passed;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.cloister.vm.worker.Workers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers from the site, by way of the relay. What is asked stands in a book before it is said, and is said again to each new
 * stream, so that neither a lost answer nor a kill loses a ticket or makes two of one. All is decided on one thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails is said where it fails
public final class SiteWorkers implements Workers, OfficeLine.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SiteWorkers.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    private final Terms terms;
    private final TicketBook book;
    private final Slots slots;
    private final Witness witness;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock;
    /** Tickets that have nodes, as far as the relay has told this process. */
    private final Set<String> given = new HashSet<>();

    /** Tickets of an earlier boot that this stream has been told are this one's. */
    private final Set<String> taken = new HashSet<>();

    private Consumer<WorkerEvent> events = event -> {};
    private OfficeLine.@Nullable Said office;

    /**
     * Who asks.
     *
     * @param key of this boot
     * @param reserves of the site's hosts
     * @param patience how long VMs have to end by themselves before their Global job is ended
     */
    public record Terms(String project, SigningKey key, MemoryReserves reserves, Duration patience) {
        /** What of the site's memory and disk a request for nodes with so much takes. */
        ResourceRequest ofSite(ResourceRequest request) {
            ResourceRequest whole = request.memoryMib() == 0
                    ? request
                    : request.withMemory(
                            MemoryPlan.forRequest(request.memoryMib(), reserves).global());
            return request.scratchMib() == 0 ? whole : whole.withScratch(ScratchSize.disk(request.scratchMib()));
        }
    }

    /**
     * @param witness on that thread too
     * @param decisions one thread, the caller's to end
     */
    public SiteWorkers(
            Terms terms,
            TicketBook book,
            Slots slots,
            Witness witness,
            ScheduledExecutorService decisions,
            InstantSource clock) {
        this.terms = terms;
        this.book = book;
        this.slots = slots;
        this.witness = witness;
        this.decisions = decisions;
        this.clock = clock;
    }

    @Override
    public void start(Consumer<WorkerEvent> heard) {
        decide(() -> events = heard);
    }

    @Override
    public void ask(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<BookedTicket> known = book.find(ticket);
            if (known.isPresent()) {
                repeat(known.get());
            } else {
                order(ticket, terms.ofSite(request));
            }
        });
    }

    @Override
    public void follow(String ticket) {
        decide(() -> {
            Optional<BookedTicket> known = book.find(ticket);
            if (known.isPresent()) {
                repeat(known.get());
            } else {
                events.accept(new Ended(ticket, Trouble.NONE));
            }
        });
    }

    @Override
    public void release(String ticket) {
        decide(() -> {
            Optional<BookedTicket> known = book.find(ticket);
            if (known.isEmpty()) {
                events.accept(new Ended(ticket, Trouble.NONE));
            } else if (!known.get().leaves()) {
                book.write(known.get().in(BookedTicket.State.RELEASED));
                released(ticket);
            }
        });
    }

    @Override
    public void withdraw(String ticket) {
        decide(() -> takeBack(ticket));
    }

    /** What the workers themselves say; of a ticket that leaves it is nobody's news any more. */
    public void tell(WorkerEvent event) {
        decide(() -> {
            Optional<BookedTicket> known = book.find(event.ticket());
            boolean late = event instanceof Passed passed && passed.phase() == Phase.TEARDOWN;
            if (known.isPresent() && (late || !known.get().leaves())) {
                events.accept(event);
            }
        });
    }

    @Override
    public void open(OfficeLine.Said to) {
        decide(() -> {
            office = to;
            taken.clear();
            for (BookedTicket each : book.all()) {
                repeat(each);
            }
            for (String each : witness.awaited()) {
                if (book.find(each).isEmpty()) {
                    say(new PartyMessage.Ask(each));
                }
            }
        });
    }

    @Override
    public void closed() {
        decide(() -> office = null);
    }

    @Override
    public void heard(OfficeMessage message) {
        decide(() -> {
            if (message instanceof OfficeMessage.Update update) {
                witness.stands(update);
                Optional<BookedTicket> known = book.find(update.ticket());
                if (known.isPresent()) {
                    updated(known.get(), update);
                }
            } else if (message instanceof OfficeMessage.Part part) {
                witness.part(part);
            } else if (message instanceof OfficeMessage.Refused refused) {
                Optional<BookedTicket> known = book.find(refused.ticket());
                if (known.isPresent()) {
                    refused(known.get(), refused);
                } else {
                    LOG.warn("relay: refused {} {}: {}", refused.ticket(), refused.clause(), refused.text());
                    if (refused.clause() == TicketClause.PROJECT) {
                        witness.forgotten(refused.ticket());
                    }
                }
            }
        });
    }

    private void order(String ticket, ResourceRequest request) throws IOException {
        Position position = book.take();
        Instant now = clock.instant();
        BookedTicket booked = new BookedTicket(
                new Ticket(
                        ticket,
                        terms.project(),
                        position.epoch(),
                        position.sequence(),
                        now,
                        now.plus(Ticket.LONGEST),
                        request),
                BookedTicket.State.ORDERED);
        book.write(booked);
        repeat(booked);
    }

    /** Says what a relay has to know of it, whatever of it was said before. */
    private void repeat(BookedTicket booked) throws IOException {
        switch (booked.state()) {
            case ORDERED -> {
                // Of one that this start did not sign, or that is too old, the relay is asked first whether it has it.
                say(isStale(booked) ? new PartyMessage.Ask(booked.id()) : order(booked.ticket()));
            }
            case TAKEN, RELEASED -> say(new PartyMessage.Ask(booked.id()));
            case WITHDRAWN -> sayWithdrawal(booked.id());
        }
    }

    private void updated(BookedTicket booked, OfficeMessage.Update update) throws IOException {
        BookedTicket now = booked;
        if (booked.state() == BookedTicket.State.ORDERED) {
            now = booked.in(BookedTicket.State.TAKEN);
            book.write(now);
        }
        if (update.state() == TicketState.ENDED) {
            boolean hadNodes = !update.allocation().isEmpty() || given.contains(booked.id());
            end(now, Troubles.of(update.end().orElseThrow(), now.leaves(), hadNodes));
            return;
        }
        if (!book.isOurs(now) && !now.leaves() && taken.add(now.id())) {
            // The relay has it, by the word of a boot whose key and certificates end: it is asked for by this one from
            // now on.
            say(order(now.ticket()));
        }
        if (update.state() == TicketState.RUNNING
                && !update.allocation().isEmpty() // It comes after the nodes, when their hosts are known.
                && now.state() != BookedTicket.State.WITHDRAWN) {
            give(now, update);
        }
    }

    private void give(BookedTicket booked, OfficeMessage.Update update) throws IOException {
        int count;
        try {
            count = slots.expect(booked.ticket(), update);
        } catch (IOException e) {
            LOG.error("ticket {}: allocation refused: {}", booked.id(), e.getMessage());
            takeBack(booked.id());
            return;
        }
        boolean first = given.add(booked.id());
        events.accept(new Allocated(booked.id(), count));
        if (first) {
            Duration waited = Duration.between(booked.ticket().issued(), clock.instant());
            for (int slot = 0; slot < count; slot++) {
                events.accept(new Passed(booked.id(), slot, Phase.QUEUE, waited.isNegative() ? Duration.ZERO : waited));
            }
        }
        if (first && booked.state() == BookedTicket.State.RELEASED) {
            released(booked.id());
        }
    }

    private void refused(BookedTicket booked, OfficeMessage.Refused refused) throws IOException {
        if (refused.clause() == TicketClause.UNAVAILABLE) {
            decisions.schedule(
                    () -> act(() -> {
                        Optional<BookedTicket> still = book.find(booked.id());
                        if (still.isPresent()) {
                            repeat(still.get());
                        }
                    }),
                    AGAIN.toMillis(),
                    TimeUnit.MILLISECONDS);
        } else if (booked.state() != BookedTicket.State.ORDERED) {
            LOG.warn("relay: ticket {}: {}: {}", booked.id(), refused.clause(), refused.text());
            if (refused.clause() == TicketClause.PROJECT) {
                witness.forgotten(booked.id());
                end(booked, booked.leaves() ? Trouble.NONE : Troubles.FORGOTTEN);
            }
        } else if (refused.clause() == TicketClause.PROJECT && isStale(booked)) {
            // No relay has it: it was never heard. The same id, signed by the key of this start.
            order(booked.id(), booked.ticket().request());
        } else {
            LOG.warn("relay: ticket {}: {}: {}", booked.id(), refused.clause(), refused.text());
            book.remove(booked.id());
            witness.dropped(booked.id());
            events.accept(new WorkerEvent.Refused(booked.id(), Troubles.of(refused)));
        }
    }

    private boolean isStale(BookedTicket booked) {
        return !book.isOurs(booked) || !clock.instant().isBefore(booked.ticket().expires());
    }

    private void released(String ticket) {
        slots.release(ticket);
        decisions.schedule(
                () -> act(() -> {
                    if (book.find(ticket).isPresent()) {
                        LOG.warn(
                                "ticket {}: VMs have not ended within {} s of their release",
                                ticket,
                                terms.patience().toSeconds());
                        takeBack(ticket);
                    }
                }),
                terms.patience().toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void takeBack(String ticket) throws IOException {
        Optional<BookedTicket> known = book.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, Trouble.NONE));
            return;
        }
        if (known.get().state() != BookedTicket.State.WITHDRAWN) {
            book.write(known.get().in(BookedTicket.State.WITHDRAWN));
        }
        sayWithdrawal(ticket);
    }

    private void end(BookedTicket booked, Trouble trouble) throws IOException {
        slots.forget(booked.id());
        book.remove(booked.id());
        given.remove(booked.id());
        taken.remove(booked.id());
        events.accept(new Ended(booked.id(), trouble));
    }

    private PartyMessage order(Ticket ticket) throws IOException {
        try {
            byte[] envelope = ticket.sign(terms.key(), book.epoch()).bytes();
            witness.ordered(ticket, envelope);
            return new PartyMessage.Order(ByteString.copyFrom(envelope));
        } catch (GeneralSecurityException e) {
            throw new IOException("ticket " + ticket.id() + ": cannot be signed: " + e.getMessage(), e);
        }
    }

    private void sayWithdrawal(String ticket) throws IOException {
        try {
            say(new PartyMessage.Withdraw(ByteString.copyFrom(
                    new Withdrawal(ticket, terms.project()).sign(terms.key()).bytes())));
        } catch (GeneralSecurityException e) {
            throw new IOException("ticket " + ticket + ": its withdrawal cannot be signed: " + e.getMessage(), e);
        }
    }

    /** What cannot be said now is said to the next stream. */
    private void say(PartyMessage message) {
        if (office != null) {
            office.say(message);
        }
    }

    @FunctionalInterface
    private interface Act {
        void run() throws IOException;
    }

    private void decide(Act act) {
        try {
            decisions.execute(() -> act(act));
        } catch (RejectedExecutionException e) {
            // Closed: what is left is for the next start.
            return;
        }
    }

    /** A book that cannot be written stops nothing for good: nothing was said, and it is asked again. */
    private static void act(Act act) {
        try {
            act.run();
        } catch (IOException | RuntimeException e) {
            LOG.error("tickets: {}", e.toString());
        }
    }
}
