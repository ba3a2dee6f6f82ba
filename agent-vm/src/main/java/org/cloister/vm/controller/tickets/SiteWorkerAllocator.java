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
import org.cloister.transport.link.TicketStreamClient;
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
public final class SiteWorkerAllocator implements WorkerAllocator, TicketStreamClient.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(SiteWorkerAllocator.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(5);

    private final Settings settings;
    private final TicketFolder tickets;
    private final TicketSigner signer;
    private final WorkerSlots slots;
    private final TicketRecorder recorder;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock;
    /** Tickets that have nodes, as far as the relay has reported to this process. */
    private final Set<String> withNodes = new HashSet<>();
    /** Tickets of an earlier boot that were submitted again on this stream as this boot's. */
    private final Set<String> resubmitted = new HashSet<>();
    /**
     * Stale tickets that the relay was asked about on this stream and has not answered for: a refusal names its ticket
     * only, so a second one would be taken for that of the ticket signed again.
     */
    private final Set<String> queried = new HashSet<>();

    private Consumer<WorkerEvent> events = event -> {};
    private TicketStreamClient.@Nullable Sender relay;

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
     * @param recorder called on that thread, too
     * @param decisions one thread, stopped by the caller
     */
    public SiteWorkerAllocator(
            Settings settings,
            TicketFolder tickets,
            WorkerSlots slots,
            TicketRecorder recorder,
            ScheduledExecutorService decisions,
            InstantSource clock) {
        this.settings = settings;
        this.tickets = tickets;
        this.signer = new TicketSigner(settings.project(), settings.key(), tickets.epoch());
        this.slots = slots;
        this.recorder = recorder;
        this.decisions = decisions;
        this.clock = clock;
    }

    @Override
    public void start(Consumer<WorkerEvent> listener) {
        decide(() -> {
            events = listener;
            slots.start(this::onWorkerEvent);
        });
    }

    @Override
    public void submitTicket(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<StoredTicket> known = tickets.find(ticket);
            if (known.isPresent()) {
                resend(known.get());
            } else {
                createTicket(ticket, settings.toSiteRequest(request));
            }
        });
    }

    @Override
    public void resumeTicket(String ticket) {
        decide(() -> {
            Optional<StoredTicket> known = tickets.find(ticket);
            if (known.isPresent()) {
                resend(known.get());
            } else {
                events.accept(new Ended(ticket, EndReason.NONE));
            }
        });
    }

    @Override
    public void releaseTicket(String ticket) {
        decide(() -> {
            Optional<StoredTicket> known = tickets.find(ticket);
            if (known.isEmpty()) {
                events.accept(new Ended(ticket, EndReason.NONE));
            } else if (!known.get().isClosing()) {
                tickets.write(known.get().withState(StoredTicket.State.RELEASED));
                releaseWorkers(ticket);
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
            Optional<StoredTicket> known = tickets.find(event.ticket());
            boolean late = event instanceof Passed passed && passed.phase() == WorkerPhase.TEARDOWN;
            if (known.isPresent() && (late || !known.get().isClosing())) {
                events.accept(event);
            }
        });
    }

    @Override
    public void onOpen(TicketStreamClient.Sender to) {
        decide(() -> {
            relay = to;
            resubmitted.clear();
            queried.clear();
            for (StoredTicket each : tickets.all()) {
                resend(each);
            }
            for (String each : recorder.awaitedTickets()) {
                if (tickets.find(each).isEmpty()) {
                    send(new AgentTicketMessage.QueryTicket(each));
                }
            }
        });
    }

    @Override
    public void onClosed(String why) {
        LOG.info("relay: ticket stream ended: {}", why);
        decide(() -> relay = null);
    }

    @Override
    public void onMessage(RelayTicketMessage message) {
        decide(() -> {
            if (message instanceof RelayTicketMessage.Update update) {
                queried.remove(update.ticket());
                recorder.recordUpdate(update);
                Optional<StoredTicket> known = tickets.find(update.ticket());
                if (known.isPresent()) {
                    onUpdate(known.get(), update);
                }
            } else if (message instanceof RelayTicketMessage.ForwardedStatement statement) {
                recorder.recordHostStatement(statement);
            } else if (message instanceof RelayTicketMessage.HostFault fault) {
                onWorkerEvent(TicketEndReasons.gone(fault));
            } else if (message instanceof RelayTicketMessage.Refused refused) {
                queried.remove(refused.ticket());
                Optional<StoredTicket> known = tickets.find(refused.ticket());
                if (known.isPresent()) {
                    onRefused(known.get(), refused);
                } else {
                    LOG.warn("relay: refused {} {}: {}", refused.ticket(), refused.clause(), refused.text());
                    if (refused.clause() == TicketClause.PROJECT) {
                        recorder.recordForgotten(refused.ticket());
                    }
                }
            }
        });
    }

    private void createTicket(String ticket, ResourceRequest request) throws IOException {
        TicketPosition position = tickets.nextPosition();
        Instant updated = clock.instant();
        StoredTicket stored = new StoredTicket(
                new Ticket(
                        ticket,
                        settings.project(),
                        position.epoch(),
                        position.sequence(),
                        updated,
                        updated.plus(Ticket.LONGEST),
                        request),
                StoredTicket.State.ORDERED);
        tickets.write(stored);
        resend(stored);
    }

    /** Sends everything that a relay must know of a ticket, even if it was sent before. */
    private void resend(StoredTicket stored) throws IOException {
        switch (stored.state()) {
            case ORDERED -> {
                // If another start signed it, or it has expired, the relay is first asked whether it has the ticket.
                if (!isStale(stored)) {
                    send(signForSubmission(stored.ticket()));
                } else if (relay != null && queried.add(stored.id())) {
                    send(new AgentTicketMessage.QueryTicket(stored.id()));
                }
            }
            case TAKEN, RELEASED -> send(new AgentTicketMessage.QueryTicket(stored.id()));
            case WITHDRAWN -> send(signer.signWithdrawal(stored.id()));
        }
    }

    private void onUpdate(StoredTicket stored, RelayTicketMessage.Update update) throws IOException {
        StoredTicket updated = stored;
        if (stored.state() == StoredTicket.State.ORDERED) {
            updated = stored.withState(StoredTicket.State.TAKEN);
            tickets.write(updated);
        }
        if (update.state() == TicketState.ENDED) {
            boolean hadNodes = !update.allocation().isEmpty() || withNodes.contains(stored.id());
            end(updated, TicketEndReasons.of(update.end().orElseThrow(), updated.isClosing(), hadNodes));
            return;
        }
        if (!tickets.isOurs(updated) && !updated.isClosing() && resubmitted.add(updated.id())) {
            // The relay has it with the signature of a boot whose key and certificates expire: this boot submits it
            // from now on.
            send(signForSubmission(updated.ticket()));
        }
        if (update.state() == TicketState.RUNNING
                && !update.allocation().isEmpty() // It arrives after the nodes, when their hosts are known.
                && updated.state() != StoredTicket.State.WITHDRAWN) {
            acceptAllocation(updated, update);
        }
    }

    private void acceptAllocation(StoredTicket stored, RelayTicketMessage.Update update) throws IOException {
        int count;
        try {
            count = slots.expectWorkers(stored.ticket(), update);
        } catch (IOException e) {
            LOG.error("ticket {}: allocation refused: {}", stored.id(), e.getMessage());
            cancelTicket(stored.id());
            return;
        }
        boolean first = withNodes.add(stored.id());
        events.accept(new Allocated(stored.id(), count));
        if (first) {
            Duration waited = Duration.between(stored.ticket().issued(), clock.instant());
            for (int slot = 0; slot < count; slot++) {
                events.accept(
                        new Passed(stored.id(), slot, WorkerPhase.QUEUE, waited.isNegative() ? Duration.ZERO : waited));
            }
        }
        if (first && stored.state() == StoredTicket.State.RELEASED) {
            releaseWorkers(stored.id());
        }
    }

    private void onRefused(StoredTicket stored, RelayTicketMessage.Refused refused) throws IOException {
        if (refused.clause() == TicketClause.UNAVAILABLE) {
            decisions.schedule(
                    () -> runTask(() -> {
                        Optional<StoredTicket> still = tickets.find(stored.id());
                        if (still.isPresent()) {
                            resend(still.get());
                        }
                    }),
                    RETRY_DELAY.toMillis(),
                    TimeUnit.MILLISECONDS);
        } else if (stored.state() != StoredTicket.State.ORDERED) {
            LOG.warn("relay: refused ticket {}: {}: {}", stored.id(), refused.clause(), refused.text());
            if (refused.clause() == TicketClause.PROJECT) {
                recorder.recordForgotten(stored.id());
                end(stored, stored.isClosing() ? EndReason.NONE : TicketEndReasons.FORGOTTEN);
            }
        } else if (refused.clause() == TicketClause.PROJECT && isStale(stored)) {
            // No relay has received it. It gets the same id, signed with the key of this start.
            createTicket(stored.id(), stored.ticket().request());
        } else {
            LOG.warn("relay: refused ticket {}: {}: {}", stored.id(), refused.clause(), refused.text());
            tickets.remove(stored.id());
            recorder.recordRejection(stored.id());
            events.accept(new WorkerEvent.Refused(stored.id(), TicketEndReasons.of(refused)));
        }
    }

    private boolean isStale(StoredTicket stored) {
        return !tickets.isOurs(stored)
                || !clock.instant().isBefore(stored.ticket().expires());
    }

    private void releaseWorkers(String ticket) {
        slots.release(ticket);
        decisions.schedule(
                () -> runTask(() -> {
                    if (tickets.find(ticket).isPresent()) {
                        LOG.warn(
                                "ticket {}: its VMs did not end within {} s of their release; it is withdrawn",
                                ticket,
                                settings.shutdownTimeout().toSeconds());
                        cancelTicket(ticket);
                    }
                }),
                settings.shutdownTimeout().toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void cancelTicket(String ticket) throws IOException {
        Optional<StoredTicket> known = tickets.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, EndReason.NONE));
            return;
        }
        if (known.get().state() != StoredTicket.State.WITHDRAWN) {
            tickets.write(known.get().withState(StoredTicket.State.WITHDRAWN));
        }
        send(signer.signWithdrawal(ticket));
    }

    private void end(StoredTicket stored, EndReason reason) throws IOException {
        slots.forget(stored.id());
        tickets.remove(stored.id());
        withNodes.remove(stored.id());
        resubmitted.remove(stored.id());
        events.accept(new Ended(stored.id(), reason));
    }

    private AgentTicketMessage signForSubmission(Ticket ticket) throws IOException {
        AgentTicketMessage.Submit signed = signer.sign(ticket);
        recorder.recordSubmission(ticket, signed.ticket().toByteArray());
        return signed;
    }

    /** Sends a message; what cannot be sent now is sent on the next stream. */
    private void send(AgentTicketMessage message) {
        if (relay != null) {
            relay.send(message);
        }
    }

    @FunctionalInterface
    private interface Task {
        void run() throws IOException;
    }

    private void decide(Task task) {
        try {
            decisions.execute(() -> runTask(task));
        } catch (RejectedExecutionException e) {
            // Closed: the rest is left to the next start.
            return;
        }
    }

    /**
     * Runs a task. A failed write of the folder stops nothing permanently: nothing was sent, and the request is
     * repeated.
     */
    private static void runTask(Task task) {
        try {
            task.run();
        } catch (IOException | RuntimeException e) {
            LOG.error("tickets: {}", e.toString());
        }
    }
}
