package org.cloister.lab.local;

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
import org.cloister.lab.Sandbox;
import org.cloister.lab.Steps;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.Shape;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Allocated;
import org.cloister.vm.worker.WorkerEvent.Ended;
import org.cloister.vm.worker.WorkerEvent.NodeGone;
import org.cloister.vm.worker.WorkerEvent.NodeReady;
import org.cloister.vm.worker.WorkerEvent.Passed;
import org.cloister.vm.worker.WorkerEvent.Refused;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.cloister.vm.worker.Workers;

/**
 * Workers that are namespaces with a slurmd. What was asked stands in a book on disk, and what there is is seen in the
 * machines themselves, so one asker goes on where another was killed. All decisions are made on one thread; {@link WorkerMachines}
 * starts and ends machines on others.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails is said where it fails
public final class NamespaceWorkers implements Workers, AutoCloseable {
    private static final long LOOK_MS = 100;
    private static final Trouble TOO_LARGE = new Trouble(
            Phase.QUEUE, "shape", "the site has no such hosts, or not as many", "ask for less of each node", false);
    private static final Trouble DIED = new Trouble(Phase.BOOT, "boot", "the VM ended before its slurmd ran", "", true);
    private static final Trouble GONE = new Trouble(Phase.REGISTRATION, "vm", "the VM has gone", "", true);

    private final List<Shape> shapes;
    private final WorkerMachines machines;
    private final WorkerBook book;
    private final Faults faults;
    private final Site site;
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    /** By node: machines that are ready, and looked after. */
    private final Map<String, Slot> ready = new HashMap<>();
    /** Nodes that are being started, or ended. */
    private final Set<String> busy = new HashSet<>();
    /** Nodes that are to be started, late. */
    private final Set<String> delayed = new HashSet<>();

    private Consumer<WorkerEvent> events = event -> {};

    private record Slot(String ticket, int slot, Sandbox machine) {}

    NamespaceWorkers(Site site, List<Shape> shapes) throws IOException {
        this.site = site;
        this.shapes = List.copyOf(shapes);
        this.machines = new WorkerMachines(site);
        this.book = new WorkerBook(site.folder().resolve("book"));
        this.faults = new Faults(site);
    }

    @Override
    public void start(Consumer<WorkerEvent> heard) {
        events = heard;
        decisions.scheduleWithFixedDelay(() -> act(this::look), LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void ask(String ticket, ResourceRequest request) {
        decide(() -> {
            Optional<Booked> known = book.find(ticket);
            if (known.isPresent()) {
                tell(known.get());
                return;
            }
            Fault fault = faults.take().orElse(null);
            Booked booked = new Booked(
                    ticket,
                    book.take(1),
                    System.currentTimeMillis(),
                    Booked.State.WAITING,
                    Need.of(request),
                    List.of(),
                    fault,
                    null);
            if (fault != null && fault.trouble() != null) {
                booked = booked.refused(fault.trouble());
            } else if (!new Capacity(shapes, List.of()).everFits(booked.need())) {
                booked = booked.refused(TOO_LARGE);
            }
            book.write(booked);
            tell(booked);
            give();
        });
    }

    @Override
    public void follow(String ticket) {
        decide(() -> {
            Optional<Booked> known = book.find(ticket);
            if (known.isPresent()) {
                tell(known.get());
                give();
            } else {
                events.accept(new Ended(ticket, Trouble.NONE));
            }
        });
    }

    @Override
    public void release(String ticket) {
        decide(() -> leave(ticket));
    }

    @Override
    public void withdraw(String ticket) {
        decide(() -> leave(ticket));
    }

    /** The end of this asker and of nothing else: its workers go on, as after kill -9. */
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

    /** All that holds of it; what was begun and is not so any more is begun again. */
    private void tell(Booked booked) throws IOException {
        switch (booked.state()) {
            case WAITING -> {}
            case REFUSED ->
                events.accept(new Refused(
                        booked.ticket(), Optional.ofNullable(booked.refused()).orElse(TOO_LARGE)));
            case LEAVING -> leave(booked.ticket());
            case GIVEN -> {
                events.accept(new Allocated(booked.ticket(), booked.places().size()));
                for (int slot = 0; slot < booked.places().size(); slot++) {
                    tell(booked, slot);
                }
            }
        }
    }

    private void tell(Booked booked, int slot) throws IOException {
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

    /** Hosts go to tickets in the order of asking; none passes one that waits before it. */
    private void give() throws IOException {
        List<Booked> all = book.all();
        List<Place> taken = new ArrayList<>();
        all.forEach(booked -> taken.addAll(booked.places()));
        for (Booked booked : all) {
            if (booked.state() != Booked.State.WAITING) {
                continue;
            }
            Optional<List<Place>> places = new Capacity(shapes, taken).places(booked.need(), 0);
            if (places.isEmpty()) {
                return;
            }
            int number = book.take(booked.need().nodes());
            Booked given = booked.given(
                    new Capacity(shapes, taken).places(booked.need(), number).orElseThrow());
            book.write(given);
            taken.addAll(given.places());
            events.accept(new Allocated(given.ticket(), given.places().size()));
            Duration waited = Duration.ofMillis(System.currentTimeMillis() - given.askedMs());
            for (int slot = 0; slot < given.places().size(); slot++) {
                events.accept(new Passed(given.ticket(), slot, Phase.QUEUE, waited));
                boot(given, slot, Optional.empty());
            }
        }
    }

    /** @param left by an asker that was killed while it started this */
    private void boot(Booked booked, int slot, Optional<Sandbox> left) {
        Fault fault = booked.fault();
        if (fault == null || fault.kind() != Fault.Kind.LATE) {
            bootNow(booked, slot, left);
            return;
        }
        String node = booked.node(slot);
        delayed.add(node);
        decisions.schedule(
                () -> act(() -> {
                    delayed.remove(node);
                    Optional<Booked> now = book.find(booked.ticket());
                    if (now.isPresent() && now.get().state() == Booked.State.GIVEN) {
                        bootNow(now.get(), slot, left);
                    }
                }),
                fault.number(),
                TimeUnit.MILLISECONDS);
    }

    private void bootNow(Booked booked, int slot, Optional<Sandbox> left) {
        busy.add(booked.node(slot));
        machines.boot(
                booked,
                slot,
                left,
                new WorkerMachines.Booting() {
                    @Override
                    public void joined(Duration boot, Duration tunnel) {
                        decide(() -> {
                            events.accept(new Passed(booked.ticket(), slot, Phase.BOOT, boot));
                            events.accept(new Passed(booked.ticket(), slot, Phase.TUNNEL, tunnel));
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
        Optional<Booked> booked = book.find(slot.ticket());
        if (booked.isEmpty() || booked.get().state() != Booked.State.GIVEN) {
            leave(slot.ticket());
            return;
        }
        book.write(booked.get().ready(slot.slot()));
        ready.put(slot.machine().name(), slot);
        events.accept(new NodeReady(slot.ticket(), slot.slot(), slot.machine().name()));
    }

    private void died(String ticket, int slot) throws IOException {
        Optional<Booked> booked = book.find(ticket);
        booked.ifPresent(each -> busy.remove(each.node(slot)));
        if (booked.isPresent() && booked.get().state() == Booked.State.GIVEN) {
            // Not begun again by whoever follows it.
            book.write(booked.get().ready(slot));
            events.accept(new NodeGone(ticket, slot, DIED));
        } else {
            leave(ticket);
        }
    }

    /** Machines end by themselves, or because somebody pulls the plug. */
    private void look() {
        for (Slot slot : List.copyOf(ready.values())) {
            if (!slot.machine().isAlive()) {
                ready.remove(slot.machine().name());
                events.accept(new NodeGone(slot.ticket(), slot.slot(), GONE));
            }
        }
    }

    /** Ends what there is of it; its end is told when there is nothing. */
    private void leave(String ticket) throws IOException {
        Optional<Booked> known = book.find(ticket);
        if (known.isEmpty()) {
            events.accept(new Ended(ticket, Trouble.NONE));
            return;
        }
        Booked booked = known.get().in(Booked.State.LEAVING);
        book.write(booked);
        List<String> nodes = new ArrayList<>();
        for (int slot = 0; slot < booked.places().size(); slot++) {
            nodes.add(booked.node(slot));
        }
        if (nodes.stream().anyMatch(busy::contains)) {
            // Comes here again when it has been started or ended.
            return;
        }
        busy.addAll(nodes);
        nodes.forEach(ready::remove);
        long from = System.nanoTime();
        machines.end(
                nodes,
                () -> decide(() -> left(booked, Duration.ofNanos(System.nanoTime() - from))),
                () -> decide(() -> {
                    busy.removeAll(nodes);
                    leave(ticket);
                }));
    }

    private void left(Booked booked, Duration took) throws IOException {
        for (int slot = 0; slot < booked.places().size(); slot++) {
            busy.remove(booked.node(slot));
            events.accept(new Passed(booked.ticket(), slot, Phase.TEARDOWN, took));
        }
        book.remove(booked.ticket());
        events.accept(new Ended(booked.ticket(), Trouble.NONE));
        give();
    }

    private void decide(Steps.Act act) {
        try {
            decisions.execute(() -> act(act));
        } catch (RejectedExecutionException e) {
            // Closed: what is left is for the next asker.
            return;
        }
    }

    private static void act(Steps.Act act) {
        try {
            act.run();
        } catch (IOException | RuntimeException e) {
            System.err.println("workers: " + e);
        }
    }
}
