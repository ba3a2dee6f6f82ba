package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Worker VMs in memory: they come a step at a time, some fail, and what they tell may come twice. */
final class FakeWorkerAllocator implements WorkerAllocator {
    static final EndReason TROUBLE = new EndReason(WorkerPhase.BOOT, "boot", "the VM did not start", "try again", true);

    private final SimulatedSlurm slurm;
    private final FaultInjector faults;
    private final Random random;
    private final int quota;
    private final Map<String, Ticket> tickets = new LinkedHashMap<>();
    private final List<String> allRequests = new ArrayList<>();
    private Consumer<WorkerEvent> events = event -> {};
    /** In thousandths of all steps. */
    int failures;

    private static final class Ticket {
        final int slots;
        int step;
        boolean ending;
        EndReason why = EndReason.NONE;
        final List<WorkerEvent> statuses = new ArrayList<>();

        Ticket(int slots) {
            this.slots = slots;
        }
    }

    FakeWorkerAllocator(SimulatedSlurm slurm, FaultInjector faults, Random random, int quota) {
        this.slurm = slurm;
        this.faults = faults;
        this.random = random;
        this.quota = quota;
    }

    static String node(String ticket, int slot) {
        return "vm-" + ticket.substring(0, 8) + "-" + slot;
    }

    int inFlight() {
        return tickets.size();
    }

    int requested() {
        return allRequests.size();
    }

    void tick() {
        new LinkedHashMap<>(tickets).forEach((id, ticket) -> {
            if (random.nextInt(4) == 0) {
                step(id, ticket);
            }
        });
    }

    private void step(String id, Ticket ticket) {
        if (ticket.ending) {
            for (int slot = 0; slot < ticket.slots; slot++) {
                slurm.lose(node(id, slot));
            }
            tickets.remove(id);
            report(ticket, new WorkerEvent.Ended(id, ticket.why));
        } else if (random.nextInt(1000) < failures) {
            fail(id, ticket);
        } else if (ticket.step == 0) {
            ticket.step++;
            report(ticket, new WorkerEvent.Passed(id, 0, WorkerPhase.QUEUE, Duration.ofMillis(40)));
            report(ticket, new WorkerEvent.Allocated(id, ticket.slots));
        } else if (ticket.step <= ticket.slots) {
            int slot = ticket.step++ - 1;
            report(ticket, new WorkerEvent.Passed(id, slot, WorkerPhase.BOOT, Duration.ofMillis(50 + slot)));
            slurm.register(node(id, slot), id);
            report(ticket, new WorkerEvent.NodeReady(id, slot, node(id, slot)));
        }
    }

    private void fail(String id, Ticket ticket) {
        ticket.why = TROUBLE;
        if (ticket.step == 0) {
            tickets.remove(id);
            report(ticket, new WorkerEvent.Refused(id, TROUBLE));
        } else if (random.nextBoolean()) {
            slurm.lose(node(id, 0));
            report(ticket, new WorkerEvent.NodeGone(id, 0, TROUBLE));
        } else {
            ticket.ending = true;
        }
    }

    /** A host dies under one VM. */
    void lose(String node) {
        Map.copyOf(tickets).forEach((id, ticket) -> {
            for (int slot = 0; slot < ticket.slots; slot++) {
                if (node(id, slot).equals(node)) {
                    slurm.lose(node);
                    report(ticket, new WorkerEvent.NodeGone(id, slot, TROUBLE));
                }
            }
        });
    }

    /** The site ends all tickets. */
    void endAll() {
        Map.copyOf(tickets).forEach((id, ticket) -> {
            ticket.ending = true;
            step(id, ticket);
        });
    }

    private void report(Ticket ticket, WorkerEvent event) {
        ticket.statuses.add(event);
        events.accept(event);
        if (random.nextInt(5) == 0) {
            events.accept(event);
        }
    }

    @Override
    public void start(Consumer<WorkerEvent> hearer) {
        events = hearer;
    }

    @Override
    public void submitTicket(String ticket, ResourceRequest request) {
        faults.kill();
        if (allRequests.contains(ticket)) {
            throw new AssertionError("ticket " + ticket + " asked for twice");
        }
        allRequests.add(ticket);
        tickets.put(ticket, new Ticket(request.nodes()));
        if (tickets.size() > quota) {
            throw new AssertionError("want at most " + quota + " tickets, have " + tickets.size());
        }
        faults.kill();
    }

    @Override
    public void resumeTicket(String ticket) {
        faults.kill();
        Ticket known = tickets.get(ticket);
        if (known == null) {
            events.accept(new WorkerEvent.Ended(
                    ticket, new EndReason(WorkerPhase.TEARDOWN, "unknown", "not known", "", true)));
        } else {
            known.statuses.forEach(events);
        }
    }

    @Override
    public void releaseTicket(String ticket) {
        end(ticket);
    }

    @Override
    public void withdrawTicket(String ticket) {
        end(ticket);
    }

    private void end(String ticket) {
        faults.kill();
        Ticket known = tickets.get(ticket);
        if (known == null) {
            events.accept(new WorkerEvent.Ended(ticket, EndReason.NONE));
        } else {
            known.ending = true;
        }
        faults.kill();
    }
}
