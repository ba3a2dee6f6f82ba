package org.cloister.host.control;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.VmRunCode;
import org.jspecify.annotations.Nullable;

/** A host whose VMs have nothing but an owner: they run until they are stopped, or power off when a test says so. */
public final class FakeHostOperations implements HostOperations {
    private static final Duration EACH = Duration.ofMillis(7);
    private static final String PROJECT = "p".repeat(51) + "a";

    // Guarded by this object's monitor.
    private final Map<String, Vm> vms = new LinkedHashMap<>();
    private final List<JobStepCaller> callers = new ArrayList<>();

    private static final class Vm {
        private final VmLedgerEntry entry;
        private VmRunListener phases;
        private @Nullable VmRunResult ended;

        Vm(VmLedgerEntry entry, VmRunListener phases) {
            this.entry = entry;
            this.phases = phases;
        }
    }

    @Override
    public synchronized Run run(JobStepCaller caller, String ticket, boolean again, VmRunListener phases)
            throws OperationRefused {
        Vm vm = vms.get(ticket);
        if (again) {
            if (vm == null || vm.entry.owner().globalJob() != caller.job()) {
                throw new OperationRefused(
                        "ticket " + ticket + ": want a VM of job " + caller.job() + ", have none", "");
            }
            vm.phases = phases;
            if (vm.ended != null) {
                phases.onResult(vm.ended);
            }
        } else if (vm != null) {
            throw new OperationRefused(
                    "ticket " + ticket + ": want one without a VM, have the VM of job "
                            + vm.entry.owner().globalJob(),
                    "submit the job again");
        } else {
            vm = begin(caller, ticket, phases);
        }
        callers.add(caller);
        notifyAll();
        return () -> end(ticket, VmRunCode.STOPPED);
    }

    private Vm begin(JobStepCaller caller, String ticket, VmRunListener phases) {
        ResourceOwner owner = new ResourceOwner(
                PROJECT, ticket, 0, caller.job(), UUID.randomUUID().toString());
        VmLedgerEntry entry = new VmLedgerEntry(
                owner,
                true,
                Instant.parse("2026-11-22T10:00:00Z").toEpochMilli(),
                VmStartStep.RUNNING,
                Optional.empty());
        Vm vm = new Vm(entry, phases);
        vms.put(ticket, vm);
        for (VmRunPhase each : List.of(VmRunPhase.JOB, VmRunPhase.TICKET, VmRunPhase.RUNNING)) {
            phases.onPhase(each, EACH);
        }
        return vm;
    }

    /** Of its own accord. */
    public void powerOff(String ticket) {
        end(ticket, VmRunCode.DONE);
    }

    private synchronized void end(String ticket, VmRunCode code) {
        Vm vm = vms.get(ticket);
        if (vm != null && vm.ended == null) {
            String text = code == VmRunCode.DONE ? "the guest powered off" : "the VM was stopped";
            vm.ended = new VmRunResult(code, VmRunPhase.GONE, text, "");
            vm.phases.onResult(vm.ended);
            notifyAll();
        }
    }

    /** Who began to wait for a VM, in order; once there are so many. */
    public synchronized List<JobStepCaller> awaitCallers(int count) throws InterruptedException {
        while (callers.size() < count) {
            wait();
        }
        return List.copyOf(callers);
    }

    /** How a ticket's VM ended, once it has. */
    public synchronized VmRunResult awaitEnd(String ticket) throws InterruptedException {
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
    public HostStatus status() {
        return new HostStatus(
                "n1.host.site.cloister.internal",
                Optional.of("the bridge is away"),
                List.of(
                        new HostStatus.Component("relay", true, "r1"),
                        new HostStatus.Component("bridge", false, "no such file")),
                0,
                living().size(),
                0,
                List.of("tap cl-aaaaaaaa0"),
                List.of(),
                Optional.of(3L));
    }

    @Override
    public List<VmSummary> vms() {
        return living().stream()
                .map(vm -> new VmSummary(
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
    public synchronized List<VmLedgerEntry> ledger() {
        return vms.values().stream()
                .map(vm -> vm.ended == null
                        ? vm.entry
                        : new VmLedgerEntry(
                                vm.entry.owner(),
                                vm.entry.scratch(),
                                vm.entry.claimedMs(),
                                vm.entry.step(),
                                Optional.of(new VmTermination(
                                        VmTermination.Why.NOT_REGISTERED,
                                        "DOMAIN_PAUSED",
                                        vm.entry.claimedMs() + 1500))))
                .toList();
    }

    @Override
    public void stop(String vm) throws OperationRefused {
        end(find(vm).ticket(), VmRunCode.STOPPED);
    }

    @Override
    public VmRendering render(String what) throws OperationRefused {
        ResourceOwner owner = find(what);
        return new VmRendering(
                "<domain>\n  <uuid>" + owner.uuid() + "</uuid>\n</domain>\n",
                List.of(owner.names().tap() + " tag=103"),
                List.of("table=0,priority=1,actions=drop"));
    }

    private ResourceOwner find(String name) throws OperationRefused {
        return living().stream()
                .map(vm -> vm.entry.owner())
                .filter(owner -> name.equals(owner.uuid())
                        || name.equals(owner.ticket())
                        || name.equals(owner.names().domain()))
                .findFirst()
                .orElseThrow(() ->
                        new OperationRefused("this host has no VM named " + name, "agentctl host vms lists them"));
    }
}
