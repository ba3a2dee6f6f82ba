package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.HostStatus;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.OperationRefused;
import org.cloister.host.control.VmRendering;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmSummary;
import org.cloister.host.domain.DomainXml;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.resources.VmPlan;

/** Performs the requests of operators and job steps on this host. */
final class LocalHostOperations implements HostOperations {
    private static final long MS = 1000;

    private final String host;
    private final VmLedger ledger;
    private final ResourceProviders resources;
    private final ReconcileLoop reconcileLoop;
    private final HostReadiness readiness;
    private final VmRuns runs;
    private final InstantSource clock;

    LocalHostOperations(
            String host,
            VmLedger ledger,
            ResourceProviders resources,
            ReconcileLoop reconcileLoop,
            HostReadiness readiness,
            VmRuns runs,
            InstantSource clock) {
        this.host = host;
        this.ledger = ledger;
        this.resources = resources;
        this.reconcileLoop = reconcileLoop;
        this.readiness = readiness;
        this.runs = runs;
        this.clock = clock;
    }

    @Override
    public Run run(JobStepCaller caller, String ticket, boolean reattach, VmRunListener listener)
            throws OperationRefused {
        return reattach ? runs.reattach(caller, ticket, listener) : runs.start(caller, ticket, listener);
    }

    @Override
    public HostStatus status() {
        List<VmLedgerEntry> entries = ledger();
        Optional<ReconcilePass.Outcome> last = reconcileLoop.last();
        return new HostStatus(
                host,
                readiness.unready(),
                readiness.components(),
                count(entries, entry -> entry.end().isEmpty() && entry.step().compareTo(VmStartStep.RUNNING) < 0),
                count(entries, entry -> entry.end().isEmpty() && entry.step().compareTo(VmStartStep.RUNNING) >= 0),
                count(entries, entry -> entry.end().isPresent()),
                last.map(outcome ->
                                outcome.orphans().stream().map(Object::toString).toList())
                        .orElse(List.of()),
                last.map(ReconcilePass.Outcome::problems).orElse(List.of()),
                last.map(outcome -> (clock.millis() - outcome.atMs()) / MS));
    }

    private static int count(List<VmLedgerEntry> entries, Predicate<VmLedgerEntry> which) {
        return (int) entries.stream().filter(which).count();
    }

    /** Lists the VMs whose plan can be read; of the others only the ledger entry is known. */
    @Override
    public List<VmSummary> vms() {
        return ledger().stream().flatMap(entry -> summary(entry).stream()).toList();
    }

    private Optional<VmSummary> summary(VmLedgerEntry entry) {
        try {
            return Optional.of(summary(entry, resources.folders().plan(entry.owner())));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static VmSummary summary(VmLedgerEntry entry, VmPlan plan) {
        return new VmSummary(
                entry.owner(),
                entry.step(),
                plan.domain().cpus().count(),
                plan.domain().memoryMib(),
                plan.port().vlan(),
                plan.port().self().ipv4().text(),
                Instant.ofEpochMilli(entry.claimedMs()),
                entry.end().map(VmTermination::why));
    }

    @Override
    public List<VmLedgerEntry> ledger() {
        return ledger.entries();
    }

    @Override
    public void stop(String vm) throws OperationRefused, IOException {
        runs.requestEnd(find(vm).owner().uuid());
    }

    @Override
    public VmRendering render(String what) throws OperationRefused, IOException {
        VmPlan plan = resources.folders().plan(find(what).owner());
        return new VmRendering(
                DomainXml.of(plan.domain()),
                List.of(plan.port().toString()),
                resources.ports().flows(plan.owner()));
    }

    private VmLedgerEntry find(String what) throws OperationRefused {
        return ledger().stream()
                .filter(entry -> entry.owner().uuid().equals(what)
                        || entry.owner().names().domain().equals(what)
                        || entry.owner().ticket().equals(what))
                .findFirst()
                .orElseThrow(() ->
                        new OperationRefused("this host has no VM named " + what, "agentctl host vms lists them"));
    }
}
