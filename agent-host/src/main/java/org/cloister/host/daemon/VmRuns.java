package org.cloister.host.daemon;

import java.io.IOException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.OperationRefused;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** VM runs that a job step waits for. Any thread may call. */
final class VmRuns implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VmRuns.class);

    private final VmCreation creation;
    private final VmLedger ledger;
    private final VmTerminator terminator;
    private final NodeHealthMonitor healthMonitor;
    private final FaultReport.Project project;
    private final InstantSource clock;
    private final CountDownLatch firstPass = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "vm");
        thread.setDaemon(true);
        return thread;
    });
    private volatile Consumer<String> endListener = uuid -> {};
    /** Runs by UUID. */
    private final Map<String, VmRun> waiting = new HashMap<>();

    VmRuns(
            VmCreation creation,
            VmLedger ledger,
            VmTerminator terminator,
            NodeHealthMonitor healthMonitor,
            FaultReport.Project project,
            InstantSource clock) {
        this.creation = creation;
        this.ledger = ledger;
        this.terminator = terminator;
        this.healthMonitor = healthMonitor;
        this.project = project;
        this.clock = clock;
    }

    /** Starts a VM run on a new thread; its result is reported to the listener. */
    HostOperations.Run start(JobStepCaller caller, String ticket, VmRunListener listener) {
        VmRun run = new VmRun(this, healthMonitor, new FaultReport(listener, ticket, project), VmRunPhase.JOB);
        threads.execute(() -> creation.create(run, caller, ticket));
        return run;
    }

    /** Reattaches a caller to a VM that an earlier process created. */
    HostOperations.Run reattach(JobStepCaller caller, String ticket, VmRunListener listener) throws OperationRefused {
        VmLedgerEntry entry = ledger.entries().stream()
                .filter(each ->
                        each.owner().ticket().equals(ticket) && each.owner().globalJob() == caller.job())
                .findFirst()
                .orElseThrow(() -> new OperationRefused(
                        "ticket " + ticket + ": this host has no VM of job " + caller.job() + " any more",
                        "agent-host's log shows how it ended"));
        VmRun run = new VmRun(
                this,
                healthMonitor,
                new FaultReport(listener, ticket, project),
                VmRunPhase.of(entry.step()).orElse(VmRunPhase.TICKET));
        run.setVm(entry.owner().uuid());
        register(entry.owner().uuid(), run);
        return run;
    }

    void awaitFirstPass() throws InterruptedException {
        firstPass.await();
    }

    synchronized void register(String uuid, VmRun run) {
        waiting.put(uuid, run);
    }

    /**
     * Sets the listener for requested ends.
     *
     * @param listener receives the UUID of each VM whose requested end is on disk; called on any thread
     */
    void setEndListener(Consumer<String> listener) {
        endListener = listener;
    }

    /** Requests the end of a VM; the request is on disk when this returns. */
    void requestEnd(String uuid) throws IOException {
        terminator.terminate(uuid, VmTermination.Why.ASKED);
        endListener.accept(uuid);
    }

    /** Records a guest's registration, as {@code GuestRegistrationListener}. */
    void onRegistered(ResourceOwner owner) throws IOException {
        Optional<VmLedgerEntry> entry = ledger.entry(owner.uuid());
        if (entry.isEmpty()
                || entry.get().step() != VmStartStep.RUNNING
                || !ledger.recordStep(owner.uuid(), VmStartStep.REGISTERED)) {
            return;
        }
        VmRun run;
        synchronized (this) {
            run = waiting.get(owner.uuid());
        }
        if (run != null) {
            run.enterPhase(VmRunPhase.REGISTERED);
        }
    }

    /** Handles the end of a reconcile pass; called on the loop's thread. */
    void onPass(ReconcilePass.Outcome outcome) {
        if (outcome.neverAnswered().isEmpty()) {
            firstPass.countDown();
        }
        for (ReconcileAction action : outcome.done()) {
            if (action instanceof ReconcileAction.ForgetVm forget) {
                onForgotten(forget.owner().uuid(), forget.end());
            }
        }
        List<VmRun> remaining;
        synchronized (this) {
            remaining = List.copyOf(waiting.values());
        }
        remaining.forEach(VmRun::onPass);
    }

    /** Removes the run of a VM; no error if there is none. */
    synchronized void unregister(String uuid) {
        waiting.remove(uuid);
    }

    private void onForgotten(String uuid, VmTermination end) {
        LOG.info("VM {} removed {} ms after its end, reason: {}", uuid, clock.millis() - end.atMs(), end.why());
        VmRun run;
        synchronized (this) {
            run = waiting.get(uuid);
        }
        if (run != null) {
            run.onRemoved(end);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
