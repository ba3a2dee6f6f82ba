package org.cloister.host.run;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.host.TimedMaker;
import org.cloister.host.desk.Caller;
import org.cloister.host.desk.Ending;
import org.cloister.host.desk.Phase;
import org.cloister.host.desk.Phases;
import org.cloister.host.desk.Work;
import org.cloister.host.desk.WorkRefused;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.DriveRefused;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.drive.Patience;
import org.cloister.host.drive.StorageSilent;
import org.cloister.host.ledger.BuildFailed;
import org.cloister.host.ledger.ClaimRefused;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.plan.GuestImage;
import org.cloister.host.plan.HostTerms;
import org.cloister.host.plan.PlanImpossible;
import org.cloister.host.step.NoStep;
import org.cloister.host.step.StepCgroup;
import org.cloister.host.step.StepGone;
import org.cloister.host.ticket.Assigned;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.slurm.SlurmUnavailable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One job step's VM: made on a thread of its own, ended by whoever wishes it, and told of to the step until it is gone. */
final class VmRun implements Work.Run {
    private static final Logger LOG = LoggerFactory.getLogger(VmRun.class);
    /** After a step of its making failed: what a host then has not taken away, it may never. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final RunParts parts;
    private final Runs runs;
    private final Phases phases;
    private final CountDownLatch stopped = new CountDownLatch(1);
    // Guarded by this object's monitor.
    private Phase phase;
    private long sinceNs = System.nanoTime();
    private @Nullable String uuid;
    private @Nullable BuildFailed failure;
    private long failedNs;
    private boolean over;

    /** @param phase that was reached before, of a VM that is there */
    VmRun(RunParts parts, Runs runs, Phases phases, Phase phase) {
        this.parts = parts;
        this.runs = runs;
        this.phases = phases;
        this.phase = phase;
    }

    /** On a thread that it may keep. */
    void make(Caller caller, String ticket) {
        long beganNs = System.nanoTime();
        try {
            runs.awaitFirstRound();
            build(caller, ticket);
            parts.metrics().started(Duration.ofNanos(System.nanoTime() - beganNs));
        } catch (TicketRefused e) {
            refuse(e.clause() == TicketClause.UNAVAILABLE ? Ending.Code.UNAVAILABLE : Ending.Code.REFUSED, e, "");
        } catch (ClaimRefused | NoStep e) {
            refuse(Ending.Code.REFUSED, e, "");
        } catch (StepGone e) {
            refuse(Ending.Code.STOPPED, e, "");
        } catch (SlurmUnavailable e) {
            refuse(Ending.Code.UNAVAILABLE, e, "ask scontrol ping on this host");
        } catch (PlanImpossible e) {
            refuse(Ending.Code.HOST, e, e.hint());
        } catch (WorkRefused e) {
            refuse(Ending.Code.REFUSED, e, e.hint());
        } catch (DriveRefused e) {
            refuse(Ending.Code.REFUSED, e, e.hint());
        } catch (StorageSilent e) {
            refuse(Ending.Code.UNAVAILABLE, e, "look at the folder vm.drives on this host");
        } catch (BuildFailed e) {
            LOG.warn("{}", e.getMessage());
            failed(e);
        } catch (IOException e) {
            refuse(Ending.Code.HOST, e, "see agent-host's log on this host");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            refuse(Ending.Code.UNAVAILABLE, e, "");
        } catch (RuntimeException e) {
            // Somebody waits, and is told whatever it was.
            LOG.error("ticket {}: a fault of agent-host", ticket, e);
            fault(e);
        }
    }

    /** Of a VM that was begun, the next round takes away what there is, and says so. */
    private void fault(RuntimeException e) {
        String its;
        synchronized (this) {
            its = uuid;
        }
        if (its != null && parts.ledger().entry(its).isPresent()) {
            parts.rounds().ring();
        } else {
            refuse(Ending.Code.HOST, e, "see agent-host's log on this host");
        }
    }

    private void build(Caller caller, String ticket)
            throws IOException, InterruptedException, ClaimRefused, BuildFailed, WorkRefused, DriveRefused {
        if (!parts.jobs().isTickets(caller.job(), ticket)) {
            throw new WorkRefused(
                    "ticket " + ticket
                            + ": want a running job of its name, of the service account, on this host, have job "
                            + caller.job(),
                    "agent-relay's own jobs alone call here");
        }
        HostTerms terms = parts.preflight().terms();
        Optional<String> unfit = parts.readiness().unfit();
        if (unfit.isPresent()) {
            throw new IOException("this host takes no work: " + unfit.get());
        }
        reached(Phase.JOB);
        Assigned assigned = parts.claims().claim(ticket, caller.job());
        reached(Phase.TICKET);
        GuestImage image = parts.images().current();
        reached(Phase.IMAGE);
        StepCgroup step = StepCgroup.of(caller.pid());
        VmOwner owner = new VmOwner(
                assigned.allocation().project(),
                ticket,
                assigned.slot().slot(),
                step.job(),
                UUID.randomUUID().toString());
        PlannedVm planned = new PlannedVm(parts, assigned, owner, step, image, terms);
        if (assigned.signed() instanceof SignedOpening signed) {
            open(planned, signed.opening());
        } else if (begin(owner)) {
            make(planned, planned.worker());
        }
    }

    /** The drive is its own before anything of the VM is made. */
    private void open(PlannedVm planned, Opening opening)
            throws IOException, InterruptedException, ClaimRefused, BuildFailed, WorkRefused, DriveRefused {
        DriveWatch drives = parts.drives()
                .orElseThrow(() -> new WorkRefused(
                        "opening " + opening.id()
                                + ": want a host that runs controlling VMs, have one without vm.drives",
                        "set it on each host of the partition that slurm.controllers of the relay names"));
        DriveUse use = new DriveUse(new DriveName(opening.project(), opening.drive()), opening.epoch());
        VmPlan plan = planned.controller(use, drives.image(use));
        if (!begin(planned.owner())) {
            return;
        }
        long beganNs = System.nanoTime();
        try {
            if (drives.take(planned.owner(), use, opening.driveMib(), new Waiting())) {
                parts.metrics().taken(Duration.ofNanos(System.nanoTime() - beganNs));
                reached(Phase.DRIVE);
                make(planned, plan);
            } else {
                end(new Ending(Ending.Code.STOPPED, phase, "it was asked to end while it waited for its drive", ""));
            }
        } finally {
            drives.built(planned.owner());
        }
    }

    /** Until somebody wishes that the VM ends. */
    private final class Waiting implements Patience {
        @Override
        public long nowNs() {
            return System.nanoTime();
        }

        @Override
        public boolean pause(Duration time) throws InterruptedException {
            return !stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void make(PlannedVm planned, VmPlan plan) throws IOException, ClaimRefused, BuildFailed {
        parts.building()
                .build(
                        Entry.claim(
                                plan.owner(),
                                plan.scratchBytes().isPresent(),
                                parts.clock().millis()),
                        new TimedMaker(
                                planned.maker(plan),
                                parts.metrics(),
                                (made, took) -> Phase.of(made).ifPresent(this::reached)),
                        this::claimed);
        // Its channel is opened after a look that has seen it.
        parts.rounds().ring();
    }

    /** What wished before that it ends had nothing in the ledger to write it to. */
    private void claimed() {
        if (stopped.getCount() == 0) {
            stop();
        }
    }

    /** @return false if it was ended before anything was made */
    private boolean begin(VmOwner owner) {
        synchronized (this) {
            if (stopped.getCount() > 0) {
                uuid = owner.uuid();
                runs.begun(owner.uuid(), this);
                return true;
            }
        }
        end(new Ending(Ending.Code.STOPPED, phase, "it was asked to end", ""));
        return false;
    }

    /** Of a VM that was there before. */
    synchronized void attach(String its) {
        uuid = its;
    }

    /** How it failed is told when nothing of it is left, or that takes too long. */
    private void failed(BuildFailed e) {
        String its;
        synchronized (this) {
            failure = e;
            failedNs = System.nanoTime();
            its = uuid;
        }
        if (its != null
                && parts.ledger().entry(its).flatMap(Entry::end).stream().anyMatch(VmRun::isFailure)) {
            parts.metrics().ended(End.Why.FAILED);
        }
        parts.rounds().ring();
    }

    private static boolean isFailure(End end) {
        return end.why() == End.Why.FAILED;
    }

    private void refuse(Ending.Code code, Exception why, String hint) {
        LOG.warn("run refused: {}", why.getMessage());
        parts.metrics().refused();
        end(new Ending(code, phase, String.valueOf(why.getMessage()), hint));
    }

    void reached(Phase next) {
        long nowNs = System.nanoTime();
        Duration took;
        synchronized (this) {
            took = Duration.ofNanos(nowNs - sinceNs);
            sinceNs = nowNs;
            phase = next;
        }
        phases.reached(next, took);
    }

    /** What is not written down now is when the step has gone. */
    @Override
    public void stop() {
        String its;
        synchronized (this) {
            stopped.countDown();
            its = uuid;
        }
        if (its != null) {
            try {
                runs.end(its);
            } catch (IOException e) {
                LOG.error("VM {}: that it is to end is not written down: {}", its, e.getMessage());
            }
        }
    }

    /** A round is over, and something of it is still there, as far as is known. Its job does not wait for the host to be mended. */
    void left() {
        Ending how;
        synchronized (this) {
            if (failure == null || System.nanoTime() - failedNs < PATIENCE.toNanos()) {
                return;
            }
            how = Endings.of(failure, phase);
        }
        end(how);
    }

    /** Nothing of it is there any more. */
    void gone(End end) {
        Ending how;
        synchronized (this) {
            how = failure == null || end.why() != End.Why.FAILED ? Endings.of(end, phase) : Endings.of(failure, phase);
        }
        reached(Phase.GONE);
        end(how);
    }

    private void end(Ending how) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            if (uuid != null) {
                runs.over(uuid);
            }
        }
        parts.watch().ended(how);
        phases.ended(how);
    }
}
