package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.metrics.TimedStepRunner;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmBuilder;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.SignedOpening;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the VMs of {@link VmRun}s, each on its caller's thread, and reports progress and failures to the run. */
final class VmCreation {
    private static final Logger LOG = LoggerFactory.getLogger(VmCreation.class);

    private final VmPreparation preparation;
    private final Optional<DriveLeaseMonitor> drives;
    private final VmBuilder builder;
    private final VmLedger ledger;
    private final ReconcileLoop reconcileLoop;
    private final HostMetrics metrics;
    private final InstantSource clock;

    /** @param drives empty on a host that runs no controlling VMs */
    VmCreation(
            VmPreparation preparation,
            Optional<DriveLeaseMonitor> drives,
            VmBuilder builder,
            VmLedger ledger,
            ReconcileLoop reconcileLoop,
            HostMetrics metrics,
            InstantSource clock) {
        this.preparation = preparation;
        this.drives = drives;
        this.builder = builder;
        this.ledger = ledger;
        this.reconcileLoop = reconcileLoop;
        this.metrics = metrics;
        this.clock = clock;
    }

    /** Creates the run's VM on the calling thread, for as long as that takes. */
    void create(VmRun run, JobStepCaller caller, String ticket) {
        long startNs = System.nanoTime();
        try {
            run.awaitFirstPass();
            PlannedVm planned = preparation.prepare(caller, ticket, run::enterPhase);
            if (planned.claim().signed() instanceof SignedOpening signed) {
                buildController(run, planned, signed.opening());
            } else if (run.register(planned.owner())) {
                build(run, planned, planned.planWorker());
            }
            metrics.recordStart(Duration.ofNanos(System.nanoTime() - startNs));
        } catch (VmBuildFailed e) {
            LOG.warn("{}", e.getMessage());
            onBuildFailed(run, e);
        } catch (IOException e) {
            refuse(run, VmRunResultMapping.startFailed(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(run, new StartFailed(VmRunCode.UNAVAILABLE, "agent-host is stopping", "", e));
        } catch (RuntimeException e) {
            // The job step waits for a result, whatever failed.
            LOG.error("VM run failed with an internal error ticket={}", ticket, e);
            onInternalError(run, e);
        }
    }

    /** Starts a controlling VM; acquires its drive before any of its resources is created. */
    private void buildController(VmRun run, PlannedVm planned, Opening opening)
            throws IOException, InterruptedException, VmBuildFailed {
        DriveLeaseMonitor leases = drives.orElseThrow(() -> new StartFailed(
                VmRunCode.REFUSED,
                "opening " + opening.id() + ": this host runs no controlling VMs, because vm.drives is not set",
                "set vm.drives on each host of the partition slurm.controllers of the relay"));
        DriveClaim claim = new DriveClaim(new DriveName(opening.project(), opening.drive()), opening.epoch());
        VmPlan plan = planned.planController(claim, leases.image(claim));
        if (!run.register(planned.owner())) {
            return;
        }
        long startNs = System.nanoTime();
        try {
            if (leases.acquire(planned.owner(), claim, opening.driveMib(), run.leaseWait())) {
                metrics.recordDriveAcquired(Duration.ofNanos(System.nanoTime() - startNs));
                run.enterPhase(VmRunPhase.DRIVE);
                build(run, planned, plan);
            } else {
                run.onStopped("the VM was stopped while it waited for its drive");
            }
        } finally {
            leases.onBuilt(planned.owner());
        }
    }

    private void build(VmRun run, PlannedVm planned, VmPlan plan) throws IOException, VmBuildFailed {
        builder.build(
                VmLedgerEntry.claim(plan.owner(), plan.scratchBytes().isPresent(), clock.millis()),
                new TimedStepRunner(
                        planned.stepRunner(plan),
                        metrics,
                        (step, took) -> VmRunPhase.of(step).ifPresent(run::enterPhase)),
                run::onClaimed);
        // The VM's channel is opened after a reconcile pass that has observed the VM.
        reconcileLoop.wake();
    }

    /** Leaves the report of the failure to the run, which waits until the VM's resources are removed. */
    private void onBuildFailed(VmRun run, VmBuildFailed e) {
        run.onBuildFailed(e);
        String vm = run.vm();
        if (vm != null
                && ledger.entry(vm).flatMap(VmLedgerEntry::end).stream()
                        .anyMatch(end -> end.why() == VmTermination.Why.FAILED)) {
            metrics.recordEnd(VmTermination.Why.FAILED);
        }
        reconcileLoop.wake();
    }

    /**
     * Reports an internal error of agent-host. If the VM has a ledger entry, the next reconcile pass removes its
     * resources and reports its end.
     */
    private void onInternalError(VmRun run, RuntimeException e) {
        String vm = run.vm();
        if (vm != null && ledger.entry(vm).isPresent()) {
            reconcileLoop.wake();
        } else {
            refuse(
                    run,
                    new StartFailed(
                            VmRunCode.HOST,
                            "agent-host: internal error: " + e,
                            "see agent-host's log on this host",
                            e));
        }
    }

    private void refuse(VmRun run, StartFailed why) {
        LOG.warn("VM run refused code={} reason=\"{}\"", why.code(), why.getMessage());
        metrics.recordRefusal();
        run.onRefused(why);
    }
}
