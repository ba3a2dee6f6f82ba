package org.cloister.host.desk;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;
import org.jspecify.annotations.Nullable;

/** A host whose VMs have nothing but an owner: they run until they are stopped, or power off when a test says so. */
public final class SmallWork implements Work {
    private static final Duration EACH = Duration.ofMillis(7);
    private static final String PROJECT = "p".repeat(51) + "a";

    // Guarded by this object's monitor.
    private final Map<String, Vm> vms = new LinkedHashMap<>();
    private final List<Caller> callers = new ArrayList<>();

    private static final class Vm {
        private final Entry entry;
        private Phases phases;
        private @Nullable Ending ended;

        Vm(Entry entry, Phases phases) {
            this.entry = entry;
            this.phases = phases;
        }
    }

    @Override
    public synchronized Run run(Caller caller, String ticket, boolean again, Phases phases) throws WorkRefused {
        Vm vm = vms.get(ticket);
        if (again) {
            if (vm == null || vm.entry.owner().globalJob() != caller.job()) {
                throw new WorkRefused("ticket " + ticket + ": want a VM of job " + caller.job() + ", have none", "");
            }
            vm.phases = phases;
            if (vm.ended != null) {
                phases.ended(vm.ended);
            }
        } else if (vm != null) {
            throw new WorkRefused(
                    "ticket " + ticket + ": want one without a VM, have the VM of job "
                            + vm.entry.owner().globalJob(),
                    "submit the job again");
        } else {
            vm = begin(caller, ticket, phases);
        }
        callers.add(caller);
        notifyAll();
        return () -> end(ticket, Ending.Code.STOPPED);
    }

    private Vm begin(Caller caller, String ticket, Phases phases) {
        VmOwner owner =
                new VmOwner(PROJECT, ticket, 0, caller.job(), UUID.randomUUID().toString());
        Entry entry = new Entry(
                owner, true, Instant.parse("2026-11-22T10:00:00Z").toEpochMilli(), Step.RUNNING, Optional.empty());
        Vm vm = new Vm(entry, phases);
        vms.put(ticket, vm);
        for (Phase each : List.of(Phase.JOB, Phase.TICKET, Phase.RUNNING)) {
            phases.reached(each, EACH);
        }
        return vm;
    }

    /** Of its own accord. */
    public void powerOff(String ticket) {
        end(ticket, Ending.Code.DONE);
    }

    private synchronized void end(String ticket, Ending.Code code) {
        Vm vm = vms.get(ticket);
        if (vm != null && vm.ended == null) {
            String text = code == Ending.Code.DONE ? "the guest powered off" : "the VM was stopped";
            vm.ended = new Ending(code, Phase.GONE, text, "");
            vm.phases.ended(vm.ended);
            notifyAll();
        }
    }

    /** Who began to wait for a VM, in order; once there are so many. */
    public synchronized List<Caller> awaitCallers(int count) throws InterruptedException {
        while (callers.size() < count) {
            wait();
        }
        return List.copyOf(callers);
    }

    /** How a ticket's VM ended, once it has. */
    public synchronized Ending awaitEnd(String ticket) throws InterruptedException {
        while (true) {
            Vm vm = vms.get(ticket);
            if (vm != null && vm.ended != null) {
                return vm.ended;
            }
            wait();
        }
    }

    private synchronized List<Vm> living() {
        return vms.values().stream().filter(vm -> vm.ended == null).toList();
    }

    @Override
    public Status status() {
        return new Status(
                "n1.host.site.cloister.internal",
                Optional.of("the bridge is away"),
                List.of(new Status.Part("relay", true, "r1"), new Status.Part("bridge", false, "no such file")),
                0,
                living().size(),
                0,
                List.of("tap cl-aaaaaaaa0"),
                List.of(),
                Optional.of(3L));
    }

    @Override
    public List<VmView> vms() {
        return living().stream()
                .map(vm -> new VmView(
                        vm.entry.owner(),
                        vm.entry.step(),
                        2,
                        512,
                        103,
                        "10.64.12.2",
                        Instant.ofEpochMilli(vm.entry.claimedMs()),
                        Optional.empty()))
                .toList();
    }

    @Override
    public synchronized List<Entry> ledger() {
        return vms.values().stream()
                .map(vm -> vm.ended == null
                        ? vm.entry
                        : new Entry(
                                vm.entry.owner(),
                                vm.entry.scratch(),
                                vm.entry.claimedMs(),
                                vm.entry.step(),
                                Optional.of(
                                        new End(End.Why.NOT_REGISTERED, "DOMAIN_PAUSED", vm.entry.claimedMs() + 1500))))
                .toList();
    }

    @Override
    public void stop(String vm) throws WorkRefused {
        end(find(vm).ticket(), Ending.Code.STOPPED);
    }

    @Override
    public Rendering render(String what) throws WorkRefused {
        VmOwner owner = find(what);
        return new Rendering(
                "<domain>\n  <uuid>" + owner.uuid() + "</uuid>\n</domain>\n",
                List.of(owner.name().tap() + " tag=103"),
                List.of("table=0,priority=1,actions=drop"));
    }

    private VmOwner find(String name) throws WorkRefused {
        return living().stream()
                .map(vm -> vm.entry.owner())
                .filter(owner -> name.equals(owner.uuid())
                        || name.equals(owner.ticket())
                        || name.equals(owner.name().domain()))
                .findFirst()
                .orElseThrow(() -> new WorkRefused(
                        name + ": want a VM of this host, have none of that name", "see agentctl host vms"));
    }
}
