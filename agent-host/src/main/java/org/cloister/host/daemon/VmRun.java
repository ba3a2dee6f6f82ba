package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.metrics.TimedStepRunner;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.SignedOpening;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * VM run of one job step: creates the VM on a thread of its own. Any caller can stop it, and it reports progress to the
 * job step until the VM is gone.
 */
final class VmRun implements HostOperations.Run {
    private static final Logger LOG = LoggerFactory.getLogger(VmRun.class);
    /**
     * Time after a failed start step after which the failure is reported, even if the VM's resources are not all
     * removed.
     */
    private static final Duration REPORT_DELAY = Duration.ofSeconds(15);

    private final VmRunContext context;
    private final VmRuns runs;
    private final VmRunListener listener;
    private final CountDownLatch stopped = new CountDownLatch(1);
    // Guarded by this object's monitor.
    private VmRunPhase phase;
    private long sinceNs = System.nanoTime();
    private @Nullable String uuid;
    private @Nullable VmBuildFailed failure;
    private long failedNs;
    private boolean finished;

    /** @param phase the phase that a VM which already exists had reached */
    VmRun(VmRunContext context, VmRuns runs, VmRunListener listener, VmRunPhase phase) {
        this.context = context;
        this.runs = runs;
        this.listener = listener;
        this.phase = phase;
    }

    /** Creates the VM on the calling thread, for as long as that takes. */
    void start(JobStepCaller caller, String ticket) {
        long startNs = System.nanoTime();
        try {
            runs.awaitFirstPass();
            build(caller, ticket);
            context.metrics().recordStart(Duration.ofNanos(System.nanoTime() - startNs));
        } catch (VmBuildFailed e) {
            LOG.warn("{}", e.getMessage());
            onBuildFailed(e);
        } catch (IOException e) {
            refuse(VmRunResultMapping.startFailed(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(new StartFailed(VmRunCode.UNAVAILABLE, "agent-host is stopping", "", e));
        } catch (RuntimeException e) {
            // The job step waits for a result, whatever failed.
            LOG.error("VM run failed with an internal error ticket={}", ticket, e);
            onInternalError(e);
        }
    }

    /**
     * Reports an internal error of agent-host. If the VM has a ledger entry, the next reconcile pass removes its
     * resources and reports its end.
     */
    private void onInternalError(RuntimeException e) {
        String vm;
        synchronized (this) {
            vm = uuid;
        }
        if (vm != null && context.ledger().entry(vm).isPresent()) {
            context.reconcileLoop().wake();
        } else {
            refuse(new StartFailed(
                    VmRunCode.HOST, "agent-host: internal error: " + e, "see agent-host's log on this host", e));
        }
    }

    private void build(JobStepCaller caller, String ticket) throws IOException, InterruptedException, VmBuildFailed {
        if (!context.jobs().isTicketJob(caller.job(), ticket)) {
            throw new StartFailed(
                    VmRunCode.REFUSED,
                    "job " + caller.job() + " is not a running job of the service account on this host for ticket "
                            + ticket,
                    "only jobs that agent-relay submits may run VMs");
        }
        HostVmDefaults defaults = context.preflight().defaults();
        Optional<String> unfit = context.readiness().unfit();
        if (unfit.isPresent()) {
            throw new IOException("this host accepts no work: " + unfit.get());
        }
        enterPhase(VmRunPhase.JOB);
        VerifiedClaim claim = context.claims().claim(ticket, caller.job());
        enterPhase(VmRunPhase.TICKET);
        GuestImage image = context.images().current();
        enterPhase(VmRunPhase.IMAGE);
        StepCgroup step = StepCgroup.of(caller.pid(), context.jobs());
        ResourceOwner owner = new ResourceOwner(
                claim.allocation().project(),
                ticket,
                claim.slot().slot(),
                step.job(),
                UUID.randomUUID().toString());
        PlannedVm planned = new PlannedVm(context, claim, owner, step, image, defaults);
        if (claim.signed() instanceof SignedOpening signed) {
            buildController(planned, signed.opening());
        } else if (register(owner)) {
            build(planned, planned.planWorker());
        }
    }

    /** Starts a controlling VM; acquires its drive before any of its resources is created. */
    private void buildController(PlannedVm planned, Opening opening)
            throws IOException, InterruptedException, VmBuildFailed {
        DriveLeaseMonitor drives = context.drives()
                .orElseThrow(() -> new StartFailed(
                        VmRunCode.REFUSED,
                        "opening " + opening.id() + ": this host runs no controlling VMs, because vm.drives is not set",
                        "set vm.drives on each host of the partition slurm.controllers of the relay"));
        DriveClaim claim = new DriveClaim(new DriveName(opening.project(), opening.drive()), opening.epoch());
        VmPlan plan = planned.planController(claim, drives.image(claim));
        if (!register(planned.owner())) {
            return;
        }
        long startNs = System.nanoTime();
        try {
            if (drives.acquire(planned.owner(), claim, opening.driveMib(), new StoppableWait())) {
                context.metrics().recordDriveAcquired(Duration.ofNanos(System.nanoTime() - startNs));
                enterPhase(VmRunPhase.DRIVE);
                build(planned, plan);
            } else {
                finish(new VmRunResult(
                        VmRunCode.STOPPED, phase, "the VM was stopped while it waited for its drive", ""));
            }
        } finally {
            drives.onBuilt(planned.owner());
        }
    }

    /** Waits until the run is stopped. */
    private final class StoppableWait implements LeaseWait {
        @Override
        public long nowNs() {
            return System.nanoTime();
        }

        @Override
        public boolean pause(Duration time) throws InterruptedException {
            return !stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void build(PlannedVm planned, VmPlan plan) throws IOException, VmBuildFailed {
        context.builder()
                .build(
                        VmLedgerEntry.claim(
                                plan.owner(),
                                plan.scratchBytes().isPresent(),
                                context.clock().millis()),
                        new TimedStepRunner(
                                planned.stepRunner(plan),
                                context.metrics(),
                                (step, took) -> VmRunPhase.of(step).ifPresent(this::enterPhase)),
                        this::onClaimed);
        // The VM's channel is opened after a reconcile pass that has observed the VM.
        context.reconcileLoop().wake();
    }

    /** Stops the VM if the run was stopped before the ledger had an entry to record that in. */
    private void onClaimed() {
        if (stopped.getCount() == 0) {
            stop();
        }
    }

    /**
     * Registers the run under its VM's UUID.
     *
     * @return false if the run was stopped before anything was created
     */
    private boolean register(ResourceOwner owner) {
        synchronized (this) {
            if (stopped.getCount() > 0) {
                uuid = owner.uuid();
                runs.register(owner.uuid(), this);
                return true;
            }
        }
        finish(new VmRunResult(VmRunCode.STOPPED, phase, "the VM was stopped before its start", ""));
        return false;
    }

    /** Sets the VM of a run that reattached to it. */
    synchronized void setVm(String vm) {
        uuid = vm;
    }

    /**
     * Records why the start failed. The failure is reported when nothing of the VM is left, or when its removal takes
     * too long.
     */
    private void onBuildFailed(VmBuildFailed e) {
        String vm;
        synchronized (this) {
            failure = e;
            failedNs = System.nanoTime();
            vm = uuid;
        }
        if (vm != null
                && context.ledger().entry(vm).flatMap(VmLedgerEntry::end).stream()
                        .anyMatch(VmRun::isFailure)) {
            context.metrics().recordEnd(VmTermination.Why.FAILED);
        }
        context.reconcileLoop().wake();
    }

    private static boolean isFailure(VmTermination end) {
        return end.why() == VmTermination.Why.FAILED;
    }

    private void refuse(StartFailed why) {
        LOG.warn("VM run refused code={} reason=\"{}\"", why.code(), why.getMessage());
        context.metrics().recordRefusal();
        finish(VmRunResultMapping.of(why, phase));
    }

    void enterPhase(VmRunPhase next) {
        long nowNs = System.nanoTime();
        Duration took;
        synchronized (this) {
            took = Duration.ofNanos(nowNs - sinceNs);
            sinceNs = nowNs;
            phase = next;
        }
        listener.onPhase(next, took);
    }

    /** Stops the run. If this cannot be persisted now, the VM is stopped when its job step has ended. */
    @Override
    public void stop() {
        String vm;
        synchronized (this) {
            stopped.countDown();
            vm = uuid;
        }
        if (vm != null) {
            try {
                runs.requestEnd(vm);
            } catch (IOException e) {
                LOG.error("the end of VM {} cannot be recorded: {}", vm, e.getMessage());
            }
        }
    }

    /**
     * Reports a failed start after a pass that left resources of the VM, once {@link #REPORT_DELAY} has passed: the job
     * does not wait until the host is repaired.
     */
    void onPass() {
        VmRunResult result;
        synchronized (this) {
            if (failure == null || System.nanoTime() - failedNs < REPORT_DELAY.toNanos()) {
                return;
            }
            result = VmRunResultMapping.of(failure, phase);
        }
        finish(result);
    }

    /** Reports the result once nothing of the VM is left. */
    void onRemoved(VmTermination end) {
        VmRunResult result;
        synchronized (this) {
            result = failure == null || end.why() != VmTermination.Why.FAILED
                    ? VmRunResultMapping.of(end, phase)
                    : VmRunResultMapping.of(failure, phase);
        }
        enterPhase(VmRunPhase.GONE);
        finish(result);
    }

    private void finish(VmRunResult result) {
        synchronized (this) {
            if (finished) {
                return;
            }
            finished = true;
            if (uuid != null) {
                runs.unregister(uuid);
            }
        }
        context.healthMonitor().onVmEnded(result);
        listener.onResult(result);
    }
}
