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
    private static final long POLL_MS = 100;
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
    private final RequestedTicketFiles tickets;
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
        this.tickets = new RequestedTicketFiles(site.folder().resolve("book"));
        this.faults = new WorkerFaults(site);
    }

    @Override
    public void start(Consumer<WorkerEvent> listener) {
        events = listener;
        decisions.scheduleWithFixedDelay(() -> act(this::poll), POLL_MS, POLL_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void submitTicket(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<RequestedTicket> known = tickets.find(ticket);
            if (known.isPresent()) {
                report(known.get());
                return;
            }
            WorkerFault fault = faults.poll().orElse(null);
            RequestedTicket requested = new RequestedTicket(
                    ticket,
                    tickets.allocateNumbers(1),
                    System.currentTimeMillis(),
                    RequestedTicket.State.WAITING,
                    PerHostResources.of(request),
                    List.of(),
                    fault,
                    null);
            if (fault != null && fault.failure() != null) {
                requested = requested.asRefused(fault.failure());
            } else if (!new HostCapacity(shapes, List.of()).everFits(requested.request())) {
                requested = requested.asRefused(TOO_LARGE);
            }
            tickets.write(requested);
            report(requested);
            allocate();
        });
    }

    @Override
    public void resumeTicket(String ticket) {
        decide(() -> {
            Optional<RequestedTicket> known = tickets.find(ticket);
            if (known.isPresent()) {
                report(known.get());
                allocate();
            } else {
                events.accept(new Ended(ticket, EndReason.NONE));
            }
        });
    }

    @Override
    public void releaseTicket(String ticket) {
        decide(() -> startRelease(ticket));
    }

    @Override
    public void withdrawTicket(String ticket) {
        decide(() -> startRelease(ticket));
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
    private void report(RequestedTicket requested) throws IOException {
        switch (requested.state()) {
            case WAITING -> {}
            case REFUSED ->
                events.accept(new Refused(
                        requested.ticket(),
                        Optional.ofNullable(requested.asRefused()).orElse(TOO_LARGE)));
            case STOPPING -> startRelease(requested.ticket());
            case ALLOCATED -> {
                events.accept(
                        new Allocated(requested.ticket(), requested.places().size()));
                for (int slot = 0; slot < requested.places().size(); slot++) {
                    report(requested, slot);
                }
            }
        }
    }

    private void report(RequestedTicket requested, int slot) throws IOException {
        String node = requested.node(slot);
        if (busy.contains(node) || delayed.contains(node)) {
            return;
        }
        Optional<Sandbox> machine = Sandbox.find(site.lab(), node);
        boolean wasReady = requested.places().get(slot).ready();
        if (wasReady && machine.isPresent()) {
            ready.put(node, new Slot(requested.ticket(), slot, machine.get()));
            events.accept(new NodeReady(requested.ticket(), slot, node));
        } else if (wasReady) {
            events.accept(new NodeGone(requested.ticket(), slot, GONE));
        } else {
            boot(requested, slot, machine);
        }
    }

    /** Allocates hosts to tickets in the order of requests; no ticket overtakes one that waits before it. */
    private void allocate() throws IOException {
        List<RequestedTicket> all = tickets.all();
        List<SlotPlacement> taken = new ArrayList<>();
        all.forEach(requested -> taken.addAll(requested.places()));
        for (RequestedTicket requested : all) {
            if (requested.state() != RequestedTicket.State.WAITING) {
                continue;
            }
            Optional<List<SlotPlacement>> places = new HostCapacity(shapes, taken).allocate(requested.request(), 0);
            if (places.isEmpty()) {
                return;
            }
            int number = tickets.allocateNumbers(requested.request().nodes());
            RequestedTicket allocated = requested.withSlots(new HostCapacity(shapes, taken)
                    .allocate(requested.request(), number)
                    .orElseThrow());
            tickets.write(allocated);
            taken.addAll(allocated.places());
            events.accept(new Allocated(allocated.ticket(), allocated.places().size()));
            Duration waited = Duration.ofMillis(System.currentTimeMillis() - allocated.requestedMs());
            for (int slot = 0; slot < allocated.places().size(); slot++) {
                events.accept(new Passed(allocated.ticket(), slot, WorkerPhase.QUEUE, waited));
                boot(allocated, slot, Optional.empty());
            }
        }
    }

    /** @param left by an instance that was killed while it started this */
    private void boot(RequestedTicket requested, int slot, Optional<Sandbox> left) {
        WorkerFault fault = requested.fault();
        if (fault == null || fault.kind() != WorkerFault.Kind.LATE) {
            bootNow(requested, slot, left);
            return;
        }
        String node = requested.node(slot);
        delayed.add(node);
        decisions.schedule(
                () -> act(() -> {
                    delayed.remove(node);
                    Optional<RequestedTicket> now = tickets.find(requested.ticket());
                    if (now.isPresent() && now.get().state() == RequestedTicket.State.ALLOCATED) {
                        bootNow(now.get(), slot, left);
                    }
                }),
                fault.number(),
                TimeUnit.MILLISECONDS);
    }

    private void bootNow(RequestedTicket requested, int slot, Optional<Sandbox> left) {
        busy.add(requested.node(slot));
        machines.boot(
                requested,
                slot,
                left,
                new WorkerMachines.BootListener() {
                    @Override
                    public void joined(Duration boot, Duration tunnel) {
                        decide(() -> {
                            events.accept(new Passed(requested.ticket(), slot, WorkerPhase.BOOT, boot));
                            events.accept(new Passed(requested.ticket(), slot, WorkerPhase.TUNNEL, tunnel));
                        });
                    }

                    @Override
                    public void up(Sandbox machine) {
                        decide(() -> started(new Slot(requested.ticket(), slot, machine)));
                    }
                },
                () -> decide(() -> died(requested.ticket(), slot)));
    }

    private void started(Slot slot) throws IOException {
        busy.remove(slot.machine().name());
        Optional<RequestedTicket> requested = tickets.find(slot.ticket());
        if (requested.isEmpty() || requested.get().state() != RequestedTicket.State.ALLOCATED) {
            startRelease(slot.ticket());
            return;
        }
        tickets.write(requested.get().withReadySlot(slot.slot()));
        ready.put(slot.machine().name(), slot);
        events.accept(new NodeReady(slot.ticket(), slot.slot(), slot.machine().name()));
    }

    private void died(String ticket, int slot) throws IOException {
        Optional<RequestedTicket> requested = tickets.find(ticket);
        requested.ifPresent(each -> busy.remove(each.node(slot)));
        if (requested.isPresent() && requested.get().state() == RequestedTicket.State.ALLOCATED) {
            // The next instance must not start it again.
            tickets.write(requested.get().withReadySlot(slot));
            events.accept(new NodeGone(ticket, slot, DIED));
        } else {
            startRelease(ticket);
        }
    }

    /** Detects machines that ended by themselves or were killed. */
    private void poll() {
        for (Slot slot : List.copyOf(ready.values())) {
            if (!slot.machine().isAlive()) {
                ready.remove(slot.machine().name());
                events.accept(new NodeGone(slot.ticket(), slot.slot(), GONE));
            }
        }
    }

    /** Stops all machines of a ticket; reports its end when none is left. */
    private void startRelease(String ticket) throws IOException {
        Optional<RequestedTicket> known = tickets.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, EndReason.NONE));
            return;
        }
        RequestedTicket requested = known.get().withState(RequestedTicket.State.STOPPING);
        tickets.write(requested);
        List<String> nodes = new ArrayList<>();
        for (int slot = 0; slot < requested.places().size(); slot++) {
            nodes.add(requested.node(slot));
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
                () -> decide(() -> reportRelease(requested, Duration.ofNanos(System.nanoTime() - from))),
                () -> decide(() -> {
                    busy.removeAll(nodes);
                    startRelease(ticket);
                }));
    }

    private void reportRelease(RequestedTicket requested, Duration took) throws IOException {
        for (int slot = 0; slot < requested.places().size(); slot++) {
            busy.remove(requested.node(slot));
            events.accept(new Passed(requested.ticket(), slot, WorkerPhase.TEARDOWN, took));
        }
        tickets.remove(requested.ticket());
        events.accept(new Ended(requested.ticket(), EndReason.NONE));
        allocate();
    }

    private void decide(ProgressLog.Action action) {
        try {
            decisions.execute(() -> act(action));
        } catch (RejectedExecutionException e) {
            // Closed: the next instance handles the rest.
            return;
        }
    }

    private static void act(ProgressLog.Action action) {
        try {
            action.run();
        } catch (IOException | RuntimeException e) {
            System.err.println("workers: " + e);
        }
    }
}
