package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.OperationRefused;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveLeaseRefused;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.drive.StorageUnavailable;
import org.cloister.host.metrics.TimedStepRunner;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostVmDefaults;
import org.cloister.host.plan.UnsatisfiablePlan;
import org.cloister.host.reconcile.SlotClaimRefused;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.JobStepEnded;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
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
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final VmRunContext parts;
    private final VmRuns runs;
    private final VmRunListener phases;
    private final CountDownLatch stopped = new CountDownLatch(1);
    // Guarded by this object's monitor.
    private VmRunPhase phase;
    private long sinceNs = System.nanoTime();
    private @Nullable String uuid;
    private @Nullable VmBuildFailed failure;
    private long failedNs;
    private boolean over;

    /** @param phase the phase that a VM which already exists had reached */
    VmRun(VmRunContext parts, VmRuns runs, VmRunListener phases, VmRunPhase phase) {
        this.parts = parts;
        this.runs = runs;
        this.phases = phases;
        this.phase = phase;
    }

    /** Creates the VM on the calling thread, for as long as that takes. */
    void make(JobStepCaller caller, String ticket) {
        long beganNs = System.nanoTime();
        try {
            runs.awaitFirstPass();
            build(caller, ticket);
            parts.metrics().recordStart(Duration.ofNanos(System.nanoTime() - beganNs));
        } catch (TicketRefusedException e) {
            refuse(
                    e.clause() == TicketClause.UNAVAILABLE ? VmRunResult.Code.UNAVAILABLE : VmRunResult.Code.REFUSED,
                    e,
                    "");
        } catch (SlotClaimRefused | NotInJobStep e) {
            refuse(VmRunResult.Code.REFUSED, e, "");
        } catch (JobStepEnded e) {
            refuse(VmRunResult.Code.STOPPED, e, "");
        } catch (SlurmUnavailableException e) {
            refuse(VmRunResult.Code.UNAVAILABLE, e, "ask scontrol ping on this host");
        } catch (UnsatisfiablePlan e) {
            refuse(VmRunResult.Code.HOST, e, e.hint());
        } catch (OperationRefused e) {
            refuse(VmRunResult.Code.REFUSED, e, e.hint());
        } catch (DriveLeaseRefused e) {
            refuse(VmRunResult.Code.REFUSED, e, e.hint());
        } catch (StorageUnavailable e) {
            refuse(VmRunResult.Code.UNAVAILABLE, e, "look at the folder vm.drives on this host");
        } catch (VmBuildFailed e) {
            LOG.warn("{}", e.getMessage());
            failed(e);
        } catch (IOException e) {
            refuse(VmRunResult.Code.HOST, e, "see agent-host's log on this host");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(VmRunResult.Code.UNAVAILABLE, e, "");
        } catch (RuntimeException e) {
            // The job step waits for a result, whatever failed.
            LOG.error("ticket {}: a fault of agent-host", ticket, e);
            fault(e);
        }
    }

    /**
     * Reports a fault of agent-host. If the VM has a ledger entry, the next reconcile pass removes its resources and
     * reports its end.
     */
    private void fault(RuntimeException e) {
        String its;
        synchronized (this) {
            its = uuid;
        }
        if (its != null && parts.ledger().entry(its).isPresent()) {
            parts.reconcileLoop().wake();
        } else {
            refuse(VmRunResult.Code.HOST, e, "see agent-host's log on this host");
        }
    }

    private void build(JobStepCaller caller, String ticket)
            throws IOException, InterruptedException, SlotClaimRefused, VmBuildFailed, OperationRefused,
                    DriveLeaseRefused {
        if (!parts.jobs().isTicketJob(caller.job(), ticket)) {
            throw new OperationRefused(
                    "ticket " + ticket
                            + ": want a running job of its name, of the service account, on this host, have job "
                            + caller.job(),
                    "agent-relay's own jobs alone call here");
        }
        HostVmDefaults terms = parts.preflight().terms();
        Optional<String> unfit = parts.readiness().unfit();
        if (unfit.isPresent()) {
            throw new IOException("this host takes no work: " + unfit.get());
        }
        enterPhase(VmRunPhase.JOB);
        VerifiedClaim assigned = parts.claims().claim(ticket, caller.job());
        enterPhase(VmRunPhase.TICKET);
        GuestImage image = parts.images().current();
        enterPhase(VmRunPhase.IMAGE);
        StepCgroup step = StepCgroup.of(caller.pid());
        ResourceOwner owner = new ResourceOwner(
                assigned.allocation().project(),
                ticket,
                assigned.slot().slot(),
                step.job(),
                UUID.randomUUID().toString());
        PlannedVm planned = new PlannedVm(parts, assigned, owner, step, image, terms);
        if (assigned.signed() instanceof SignedOpening signed) {
            open(planned, signed.opening());
        } else if (begin(owner)) {
            make(planned, planned.planWorker());
        }
    }

    /** Starts a controlling VM; acquires its drive before any of its resources is created. */
    private void open(PlannedVm planned, Opening opening)
            throws IOException, InterruptedException, SlotClaimRefused, VmBuildFailed, OperationRefused,
                    DriveLeaseRefused {
        DriveLeaseMonitor drives = parts.drives()
                .orElseThrow(() -> new OperationRefused(
                        "opening " + opening.id()
                                + ": want a host that runs controlling VMs, have one without vm.drives",
                        "set it on each host of the partition that slurm.controllers of the relay names"));
        DriveClaim use = new DriveClaim(new DriveName(opening.project(), opening.drive()), opening.epoch());
        VmPlan plan = planned.planController(use, drives.image(use));
        if (!begin(planned.owner())) {
            return;
        }
        long beganNs = System.nanoTime();
        try {
            if (drives.acquire(planned.owner(), use, opening.driveMib(), new StoppableWait())) {
                parts.metrics().recordDriveAcquired(Duration.ofNanos(System.nanoTime() - beganNs));
                enterPhase(VmRunPhase.DRIVE);
                make(planned, plan);
            } else {
                end(new VmRunResult(
                        VmRunResult.Code.STOPPED, phase, "it was asked to end while it waited for its drive", ""));
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

    private void make(PlannedVm planned, VmPlan plan) throws IOException, SlotClaimRefused, VmBuildFailed {
        parts.builder()
                .build(
                        VmLedgerEntry.claim(
                                plan.owner(),
                                plan.scratchBytes().isPresent(),
                                parts.clock().millis()),
                        new TimedStepRunner(
                                planned.stepRunner(plan),
                                parts.metrics(),
                                (made, took) -> VmRunPhase.of(made).ifPresent(this::enterPhase)),
                        this::claimed);
        // The VM's channel is opened after a reconcile pass that has observed the VM.
        parts.reconcileLoop().wake();
    }

    /** Stops the VM if the run was stopped before the ledger had an entry to record that in. */
    private void claimed() {
        if (stopped.getCount() == 0) {
            stop();
        }
    }

    /**
     * Registers the run under its VM's UUID.
     *
     * @return false if the run was stopped before anything was created
     */
    private boolean begin(ResourceOwner owner) {
        synchronized (this) {
            if (stopped.getCount() > 0) {
                uuid = owner.uuid();
                runs.register(owner.uuid(), this);
                return true;
            }
        }
        end(new VmRunResult(VmRunResult.Code.STOPPED, phase, "it was asked to end", ""));
        return false;
    }

    /** Sets the VM of a run that reattached to it. */
    synchronized void setVm(String its) {
        uuid = its;
    }

    /**
     * Records why the start failed. The failure is reported when nothing of the VM is left, or when its removal takes
     * too long.
     */
    private void failed(VmBuildFailed e) {
        String its;
        synchronized (this) {
            failure = e;
            failedNs = System.nanoTime();
            its = uuid;
        }
        if (its != null
                && parts.ledger().entry(its).flatMap(VmLedgerEntry::end).stream()
                        .anyMatch(VmRun::isFailure)) {
            parts.metrics().recordEnd(VmTermination.Why.FAILED);
        }
        parts.reconcileLoop().wake();
    }

    private static boolean isFailure(VmTermination end) {
        return end.why() == VmTermination.Why.FAILED;
    }

    private void refuse(VmRunResult.Code code, Exception why, String hint) {
        LOG.warn("run refused: {}", why.getMessage());
        parts.metrics().recordRefusal();
        end(new VmRunResult(code, phase, String.valueOf(why.getMessage()), hint));
    }

    void enterPhase(VmRunPhase next) {
        long nowNs = System.nanoTime();
        Duration took;
        synchronized (this) {
            took = Duration.ofNanos(nowNs - sinceNs);
            sinceNs = nowNs;
            phase = next;
        }
        phases.onPhase(next, took);
    }

    /** Stops the run. If this cannot be persisted now, the VM is stopped when its job step has ended. */
    @Override
    public void stop() {
        String its;
        synchronized (this) {
            stopped.countDown();
            its = uuid;
        }
        if (its != null) {
            try {
                runs.requestEnd(its);
            } catch (IOException e) {
                LOG.error("VM {}: that it is to end is not written down: {}", its, e.getMessage());
            }
        }
    }

    /**
     * Reports a failed start after a pass that left resources of the VM, once {@link #PATIENCE} has passed: the job
     * does not wait until the host is repaired.
     */
    void onPass() {
        VmRunResult how;
        synchronized (this) {
            if (failure == null || System.nanoTime() - failedNs < PATIENCE.toNanos()) {
                return;
            }
            how = VmRunResultMapping.of(failure, phase);
        }
        end(how);
    }

    /** Reports the result once nothing of the VM is left. */
    void onRemoved(VmTermination end) {
        VmRunResult how;
        synchronized (this) {
            how = failure == null || end.why() != VmTermination.Why.FAILED
                    ? VmRunResultMapping.of(end, phase)
                    : VmRunResultMapping.of(failure, phase);
        }
        enterPhase(VmRunPhase.GONE);
        end(how);
    }

    private void end(VmRunResult how) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            if (uuid != null) {
                runs.unregister(uuid);
            }
        }
        parts.healthMonitor().onVmEnded(how);
        phases.onResult(how);
    }
}
