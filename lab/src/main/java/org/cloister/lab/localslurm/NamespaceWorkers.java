package org.cloister.lab.localslurm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.Sandbox;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.Allocated;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerEvent.Ended;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeGone;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeReady;
import org.cloister.vm.controller.tickets.WorkerEvent.Passed;
import org.cloister.vm.controller.tickets.WorkerEvent.Refused;
import org.cloister.vm.controller.tickets.WorkerPhase;

/**
 * Worker allocator whose workers are namespaces with a slurmd. It records requests on disk and inspects the machines
 * themselves, so a new instance continues where another was killed. All decisions are made on one thread;
 * {@link WorkerMachines} starts and stops machines on others.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each failure is reported where it occurs
public final class NamespaceWorkers implements WorkerAllocator, AutoCloseable {
    private static final long LOOK_MS = 100;
    private static final EndReason TOO_LARGE = new EndReason(
            WorkerPhase.QUEUE,
            "shape",
            "the site has no such hosts, or not as many",
            "ask for less of each node",
            false);
    private static final EndReason DIED =
            new EndReason(WorkerPhase.BOOT, "boot", "the VM ended before its slurmd ran", "", true);
    private static final EndReason GONE = new EndReason(WorkerPhase.REGISTRATION, "vm", "the VM has gone", "", true);

    private final List<HostShape> shapes;
    private final WorkerMachines machines;
    private final RequestedTicketFiles book;
    private final WorkerFaults faults;
    private final ClusterSite site;
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    /** Machines that are ready and monitored, by node. */
    private final Map<String, Slot> ready = new HashMap<>();
    /** Nodes that are being started or stopped. */
    private final Set<String> busy = new HashSet<>();
    /** Nodes that will be started late. */
    private final Set<String> delayed = new HashSet<>();

    private Consumer<WorkerEvent> events = event -> {};

    private record Slot(String ticket, int slot, Sandbox machine) {}

    NamespaceWorkers(ClusterSite site, List<HostShape> shapes) throws IOException {
        this.site = site;
        this.shapes = List.copyOf(shapes);
        this.machines = new WorkerMachines(site);
        this.book = new RequestedTicketFiles(site.folder().resolve("book"));
        this.faults = new WorkerFaults(site);
    }

    @Override
    public void start(Consumer<WorkerEvent> heard) {
        events = heard;
        decisions.scheduleWithFixedDelay(() -> act(this::look), LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void submitTicket(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<RequestedTicket> known = book.find(ticket);
            if (known.isPresent()) {
                tell(known.get());
                return;
            }
            WorkerFault fault = faults.poll().orElse(null);
            RequestedTicket booked = new RequestedTicket(
                    ticket,
                    book.allocateNumbers(1),
                    System.currentTimeMillis(),
                    RequestedTicket.State.WAITING,
                    PerHostResources.of(request),
                    List.of(),
                    fault,
                    null);
            if (fault != null && fault.trouble() != null) {
                booked = booked.asRefused(fault.trouble());
            } else if (!new HostCapacity(shapes, List.of()).everFits(booked.need())) {
                booked = booked.asRefused(TOO_LARGE);
            }
            book.write(booked);
            tell(booked);
            give();
        });
    }

    @Override
    public void resumeTicket(String ticket) {
        decide(() -> {
            Optional<RequestedTicket> known = book.find(ticket);
            if (known.isPresent()) {
                tell(known.get());
                give();
            } else {
                events.accept(new Ended(ticket, EndReason.NONE));
            }
        });
    }

    @Override
    public void releaseTicket(String ticket) {
        decide(() -> leave(ticket));
    }

    @Override
    public void withdrawTicket(String ticket) {
        decide(() -> leave(ticket));
    }

    /** Ends this instance only: its workers keep running, as after kill -9. */
    @Override
    public void close() throws IOException {
        decisions.shutdownNow();
        machines.close();
        try {
            if (!decisions.awaitTermination(10, TimeUnit.SECONDS)) {
                throw new IOException("workers: threads did not end within 10 s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reports all current states of a ticket, and starts again what was interrupted. */
    private void tell(RequestedTicket booked) throws IOException {
        switch (booked.state()) {
            case WAITING -> {}
            case REFUSED ->
                events.accept(new Refused(
                        booked.ticket(), Optional.ofNullable(booked.asRefused()).orElse(TOO_LARGE)));
            case LEAVING -> leave(booked.ticket());
            case GIVEN -> {
                events.accept(new Allocated(booked.ticket(), booked.places().size()));
                for (int slot = 0; slot < booked.places().size(); slot++) {
                    tell(booked, slot);
                }
            }
        }
    }

    private void tell(RequestedTicket booked, int slot) throws IOException {
        String node = booked.node(slot);
        if (busy.contains(node) || delayed.contains(node)) {
            return;
        }
        Optional<Sandbox> machine = Sandbox.find(site.lab(), node);
        boolean wasReady = booked.places().get(slot).ready();
        if (wasReady && machine.isPresent()) {
            ready.put(node, new Slot(booked.ticket(), slot, machine.get()));
            events.accept(new NodeReady(booked.ticket(), slot, node));
        } else if (wasReady) {
            events.accept(new NodeGone(booked.ticket(), slot, GONE));
        } else {
            boot(booked, slot, machine);
        }
    }

    /** Allocates hosts to tickets in the order of requests; no ticket overtakes one that waits before it. */
    private void give() throws IOException {
        List<RequestedTicket> all = book.all();
        List<SlotPlacement> taken = new ArrayList<>();
        all.forEach(booked -> taken.addAll(booked.places()));
        for (RequestedTicket booked : all) {
            if (booked.state() != RequestedTicket.State.WAITING) {
                continue;
            }
            Optional<List<SlotPlacement>> places = new HostCapacity(shapes, taken).allocate(booked.need(), 0);
            if (places.isEmpty()) {
                return;
            }
            int number = book.allocateNumbers(booked.need().nodes());
            RequestedTicket given = booked.withSlots(new HostCapacity(shapes, taken)
                    .allocate(booked.need(), number)
                    .orElseThrow());
            book.write(given);
            taken.addAll(given.places());
            events.accept(new Allocated(given.ticket(), given.places().size()));
            Duration waited = Duration.ofMillis(System.currentTimeMillis() - given.askedMs());
            for (int slot = 0; slot < given.places().size(); slot++) {
                events.accept(new Passed(given.ticket(), slot, WorkerPhase.QUEUE, waited));
                boot(given, slot, Optional.empty());
            }
        }
    }

    /** @param left by an instance that was killed while it started this */
    private void boot(RequestedTicket booked, int slot, Optional<Sandbox> left) {
        WorkerFault fault = booked.fault();
        if (fault == null || fault.kind() != WorkerFault.Kind.LATE) {
            bootNow(booked, slot, left);
            return;
        }
        String node = booked.node(slot);
        delayed.add(node);
        decisions.schedule(
                () -> act(() -> {
                    delayed.remove(node);
                    Optional<RequestedTicket> now = book.find(booked.ticket());
                    if (now.isPresent() && now.get().state() == RequestedTicket.State.GIVEN) {
                        bootNow(now.get(), slot, left);
                    }
                }),
                fault.number(),
                TimeUnit.MILLISECONDS);
    }

    private void bootNow(RequestedTicket booked, int slot, Optional<Sandbox> left) {
        busy.add(booked.node(slot));
        machines.boot(
                booked,
                slot,
                left,
                new WorkerMachines.BootListener() {
                    @Override
                    public void joined(Duration boot, Duration tunnel) {
                        decide(() -> {
                            events.accept(new Passed(booked.ticket(), slot, WorkerPhase.BOOT, boot));
                            events.accept(new Passed(booked.ticket(), slot, WorkerPhase.TUNNEL, tunnel));
                        });
                    }

                    @Override
                    public void up(Sandbox machine) {
                        decide(() -> started(new Slot(booked.ticket(), slot, machine)));
                    }
                },
                () -> decide(() -> died(booked.ticket(), slot)));
    }

    private void started(Slot slot) throws IOException {
        busy.remove(slot.machine().name());
        Optional<RequestedTicket> booked = book.find(slot.ticket());
        if (booked.isEmpty() || booked.get().state() != RequestedTicket.State.GIVEN) {
            leave(slot.ticket());
            return;
        }
        book.write(booked.get().withReadySlot(slot.slot()));
        ready.put(slot.machine().name(), slot);
        events.accept(new NodeReady(slot.ticket(), slot.slot(), slot.machine().name()));
    }

    private void died(String ticket, int slot) throws IOException {
        Optional<RequestedTicket> booked = book.find(ticket);
        booked.ifPresent(each -> busy.remove(each.node(slot)));
        if (booked.isPresent() && booked.get().state() == RequestedTicket.State.GIVEN) {
            // The next instance must not start it again.
            book.write(booked.get().withReadySlot(slot));
            events.accept(new NodeGone(ticket, slot, DIED));
        } else {
            leave(ticket);
        }
    }

    /** Detects machines that ended by themselves or were killed. */
    private void look() {
        for (Slot slot : List.copyOf(ready.values())) {
            if (!slot.machine().isAlive()) {
                ready.remove(slot.machine().name());
                events.accept(new NodeGone(slot.ticket(), slot.slot(), GONE));
            }
        }
    }

    /** Stops all machines of a ticket; reports its end when none is left. */
    private void leave(String ticket) throws IOException {
        Optional<RequestedTicket> known = book.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, EndReason.NONE));
            return;
        }
        RequestedTicket booked = known.get().withState(RequestedTicket.State.LEAVING);
        book.write(booked);
        List<String> nodes = new ArrayList<>();
        for (int slot = 0; slot < booked.places().size(); slot++) {
            nodes.add(booked.node(slot));
        }
        if (nodes.stream().anyMatch(busy::contains)) {
            // This method is called again when the node has been started or stopped.
            return;
        }
        busy.addAll(nodes);
        nodes.forEach(ready::remove);
        long from = System.nanoTime();
        machines.stop(
                nodes,
                () -> decide(() -> left(booked, Duration.ofNanos(System.nanoTime() - from))),
                () -> decide(() -> {
                    busy.removeAll(nodes);
                    leave(ticket);
                }));
    }

    private void left(RequestedTicket booked, Duration took) throws IOException {
        for (int slot = 0; slot < booked.places().size(); slot++) {
            busy.remove(booked.node(slot));
            events.accept(new Passed(booked.ticket(), slot, WorkerPhase.TEARDOWN, took));
        }
        book.remove(booked.ticket());
        events.accept(new Ended(booked.ticket(), EndReason.NONE));
        give();
    }

    private void decide(ProgressLog.Action act) {
        try {
            decisions.execute(() -> act(act));
        } catch (RejectedExecutionException e) {
            // Closed: the next instance handles the rest.
            return;
        }
    }

    private static void act(ProgressLog.Action act) {
        try {
            act.run();
        } catch (IOException | RuntimeException e) {
            System.err.println("workers: " + e);
        }
    }
}
