package org.cloister.vm.controller.tickets;

import java.io.IOException;
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
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.MemoryFormula;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.tickets.WorkerEvent.Allocated;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerEvent.Ended;
import org.cloister.vm.controller.tickets.WorkerEvent.Passed;
import org.cloister.vm.worker.scratch.ScratchSize;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests workers from the site through the relay. Each request is recorded before it is sent and repeated on each new
 * stream, so that neither a lost response nor a kill loses a ticket or duplicates it. One thread makes all decisions.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures are logged where they occur
public final class SiteWorkerAllocator implements WorkerAllocator, RelayTicketConnection.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SiteWorkerAllocator.class);
    private static final Duration AGAIN = Duration.ofSeconds(5);

    private final Settings terms;
    private final TicketFolder book;
    private final TicketSigner signer;
    private final WorkerSlots slots;
    private final TicketRecorder witness;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock;
    /** Tickets that have nodes, as far as the relay has reported to this process. */
    private final Set<String> given = new HashSet<>();

    /** Tickets of an earlier boot that were submitted again on this stream as this boot's. */
    private final Set<String> taken = new HashSet<>();

    /**
     * Stale tickets that the relay was asked about on this stream and has not answered for: a refusal names its ticket
     * only, so a second one would be taken for that of the ticket signed again.
     */
    private final Set<String> queried = new HashSet<>();

    private Consumer<WorkerEvent> events = event -> {};
    private RelayTicketConnection.@Nullable Sender office;

    /**
     * Settings of the requester.
     *
     * @param key of this boot
     * @param reserves of the site's hosts
     * @param shutdownTimeout time for VMs to end by themselves before their global job is ended
     */
    public record Settings(String project, SigningKey key, MemoryReserves reserves, Duration shutdownTimeout) {
        /** Returns the site's memory and disk that a request for nodes with these resources takes. */
        ResourceRequest toSiteRequest(ResourceRequest request) {
            ResourceRequest whole = request.memoryMib() == 0
                    ? request
                    : request.withMemory(MemoryFormula.forRequest(request.memoryMib(), reserves)
                            .global());
            return request.scratchMib() == 0 ? whole : whole.withScratch(ScratchSize.disk(request.scratchMib()));
        }
    }

    /**
     * @param witness called on that thread, too
     * @param decisions one thread, stopped by the caller
     */
    public SiteWorkerAllocator(
            Settings terms,
            TicketFolder book,
            WorkerSlots slots,
            TicketRecorder witness,
            ScheduledExecutorService decisions,
            InstantSource clock) {
        this.terms = terms;
        this.book = book;
        this.signer = new TicketSigner(terms.project(), terms.key(), book.epoch());
        this.slots = slots;
        this.witness = witness;
        this.decisions = decisions;
        this.clock = clock;
    }

    @Override
    public void start(Consumer<WorkerEvent> heard) {
        decide(() -> {
            events = heard;
            slots.start(this::onWorkerEvent);
        });
    }

    @Override
    public void submitTicket(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<StoredTicket> known = book.find(ticket);
            if (known.isPresent()) {
                repeat(known.get());
            } else {
                order(ticket, terms.toSiteRequest(request));
            }
        });
    }

    @Override
    public void resumeTicket(String ticket) {
        decide(() -> {
            Optional<StoredTicket> known = book.find(ticket);
            if (known.isPresent()) {
                repeat(known.get());
            } else {
                events.accept(new Ended(ticket, EndReason.NONE));
            }
        });
    }

    @Override
    public void releaseTicket(String ticket) {
        decide(() -> {
            Optional<StoredTicket> known = book.find(ticket);
            if (known.isEmpty()) {
                events.accept(new Ended(ticket, EndReason.NONE));
            } else if (!known.get().isClosing()) {
                book.write(known.get().withState(StoredTicket.State.RELEASED));
                released(ticket);
            }
        });
    }

    @Override
    public void withdrawTicket(String ticket) {
        decide(() -> cancelTicket(ticket));
    }

    /** Forwards a worker's report; drops it if the ticket is closing. */
    void onWorkerEvent(WorkerEvent event) {
        decide(() -> {
            Optional<StoredTicket> known = book.find(event.ticket());
            boolean late = event instanceof Passed passed && passed.phase() == WorkerPhase.TEARDOWN;
            if (known.isPresent() && (late || !known.get().isClosing())) {
                events.accept(event);
            }
        });
    }

    @Override
    public void onOpen(RelayTicketConnection.Sender to) {
        decide(() -> {
            office = to;
            taken.clear();
            queried.clear();
            for (StoredTicket each : book.all()) {
                repeat(each);
            }
            for (String each : witness.awaitedTickets()) {
                if (book.find(each).isEmpty()) {
                    send(new AgentTicketMessage.QueryTicket(each));
                }
            }
        });
    }

    @Override
    public void onClosed() {
        decide(() -> office = null);
    }

    @Override
    public void onMessage(RelayTicketMessage message) {
        decide(() -> {
            if (message instanceof RelayTicketMessage.Update update) {
                queried.remove(update.ticket());
                witness.recordUpdate(update);
                Optional<StoredTicket> known = book.find(update.ticket());
                if (known.isPresent()) {
                    updated(known.get(), update);
                }
            } else if (message instanceof RelayTicketMessage.ForwardedStatement part) {
                witness.recordHostStatement(part);
            } else if (message instanceof RelayTicketMessage.Refused refused) {
                queried.remove(refused.ticket());
                Optional<StoredTicket> known = book.find(refused.ticket());
                if (known.isPresent()) {
                    refused(known.get(), refused);
                } else {
                    LOG.warn("relay: refused {} {}: {}", refused.ticket(), refused.clause(), refused.text());
                    if (refused.clause() == TicketClause.PROJECT) {
                        witness.recordForgotten(refused.ticket());
                    }
                }
            }
        });
    }

    private void order(String ticket, ResourceRequest request) throws IOException {
        TicketPosition position = book.nextPosition();
        Instant now = clock.instant();
        StoredTicket booked = new StoredTicket(
                new Ticket(
                        ticket,
                        terms.project(),
                        position.epoch(),
                        position.sequence(),
                        now,
                        now.plus(Ticket.LONGEST),
                        request),
                StoredTicket.State.ORDERED);
        book.write(booked);
        repeat(booked);
    }

    /** Sends everything that a relay must know of a ticket, even if it was sent before. */
    private void repeat(StoredTicket booked) throws IOException {
        switch (booked.state()) {
            case ORDERED -> {
                // If another start signed it, or it has expired, the relay is first asked whether it has the ticket.
                if (!isStale(booked)) {
                    send(order(booked.ticket()));
                } else if (office != null && queried.add(booked.id())) {
                    send(new AgentTicketMessage.QueryTicket(booked.id()));
                }
            }
            case TAKEN, RELEASED -> send(new AgentTicketMessage.QueryTicket(booked.id()));
            case WITHDRAWN -> send(signer.signWithdrawal(booked.id()));
        }
    }

    private void updated(StoredTicket booked, RelayTicketMessage.Update update) throws IOException {
        StoredTicket now = booked;
        if (booked.state() == StoredTicket.State.ORDERED) {
            now = booked.withState(StoredTicket.State.TAKEN);
            book.write(now);
        }
        if (update.state() == TicketState.ENDED) {
            boolean hadNodes = !update.allocation().isEmpty() || given.contains(booked.id());
            end(now, TicketEndReasons.of(update.end().orElseThrow(), now.isClosing(), hadNodes));
            return;
        }
        if (!book.isOurs(now) && !now.isClosing() && taken.add(now.id())) {
            // The relay has it with the signature of a boot whose key and certificates expire: this boot submits it
            // from now on.
            send(order(now.ticket()));
        }
        if (update.state() == TicketState.RUNNING
                && !update.allocation().isEmpty() // It arrives after the nodes, when their hosts are known.
                && now.state() != StoredTicket.State.WITHDRAWN) {
            acceptAllocation(now, update);
        }
    }

    private void acceptAllocation(StoredTicket booked, RelayTicketMessage.Update update) throws IOException {
        int count;
        try {
            count = slots.expectWorkers(booked.ticket(), update);
        } catch (IOException e) {
            LOG.error("ticket {}: allocation refused: {}", booked.id(), e.getMessage());
            cancelTicket(booked.id());
            return;
        }
        boolean first = given.add(booked.id());
        events.accept(new Allocated(booked.id(), count));
        if (first) {
            Duration waited = Duration.between(booked.ticket().issued(), clock.instant());
            for (int slot = 0; slot < count; slot++) {
                events.accept(
                        new Passed(booked.id(), slot, WorkerPhase.QUEUE, waited.isNegative() ? Duration.ZERO : waited));
            }
        }
        if (first && booked.state() == StoredTicket.State.RELEASED) {
            released(booked.id());
        }
    }

    private void refused(StoredTicket booked, RelayTicketMessage.Refused refused) throws IOException {
        if (refused.clause() == TicketClause.UNAVAILABLE) {
            decisions.schedule(
                    () -> act(() -> {
                        Optional<StoredTicket> still = book.find(booked.id());
                        if (still.isPresent()) {
                            repeat(still.get());
                        }
                    }),
                    AGAIN.toMillis(),
                    TimeUnit.MILLISECONDS);
        } else if (booked.state() != StoredTicket.State.ORDERED) {
            LOG.warn("relay: ticket {}: {}: {}", booked.id(), refused.clause(), refused.text());
            if (refused.clause() == TicketClause.PROJECT) {
                witness.recordForgotten(booked.id());
                end(booked, booked.isClosing() ? EndReason.NONE : TicketEndReasons.FORGOTTEN);
            }
        } else if (refused.clause() == TicketClause.PROJECT && isStale(booked)) {
            // No relay has received it. It gets the same id, signed with the key of this start.
            order(booked.id(), booked.ticket().request());
        } else {
            LOG.warn("relay: ticket {}: {}: {}", booked.id(), refused.clause(), refused.text());
            book.remove(booked.id());
            witness.recordRejection(booked.id());
            events.accept(new WorkerEvent.Refused(booked.id(), TicketEndReasons.of(refused)));
        }
    }

    private boolean isStale(StoredTicket booked) {
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
                                terms.shutdownTimeout().toSeconds());
                        cancelTicket(ticket);
                    }
                }),
                terms.shutdownTimeout().toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void cancelTicket(String ticket) throws IOException {
        Optional<StoredTicket> known = book.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, EndReason.NONE));
            return;
        }
        if (known.get().state() != StoredTicket.State.WITHDRAWN) {
            book.write(known.get().withState(StoredTicket.State.WITHDRAWN));
        }
        send(signer.signWithdrawal(ticket));
    }

    private void end(StoredTicket booked, EndReason trouble) throws IOException {
        slots.forget(booked.id());
        book.remove(booked.id());
        given.remove(booked.id());
        taken.remove(booked.id());
        events.accept(new Ended(booked.id(), trouble));
    }

    private AgentTicketMessage order(Ticket ticket) throws IOException {
        AgentTicketMessage.Submit signed = signer.sign(ticket);
        witness.recordSubmission(ticket, signed.ticket().toByteArray());
        return signed;
    }

    /** Sends a message; what cannot be sent now is sent on the next stream. */
    private void send(AgentTicketMessage message) {
        if (office != null) {
            office.send(message);
        }
    }

    @FunctionalInterface
    private interface Task {
        void run() throws IOException;
    }

    private void decide(Task act) {
        try {
            decisions.execute(() -> act(act));
        } catch (RejectedExecutionException e) {
            // Closed: the rest is left to the next start.
            return;
        }
    }

    /**
     * Runs a task. A failed write of the folder stops nothing permanently: nothing was sent, and the request is
     * repeated.
     */
    private static void act(Task act) {
        try {
            act.run();
        } catch (IOException | RuntimeException e) {
            LOG.error("tickets: {}", e.toString());
        }
    }
}
