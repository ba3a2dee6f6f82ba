package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * VM run of one job step, whose VM {@link VmCreation} creates. Any caller can stop it, and it reports progress to the
 * job step until the VM is gone.
 */
final class VmRun implements HostOperations.Run {
    private static final Logger LOG = LoggerFactory.getLogger(VmRun.class);
    /**
     * Time after a failed start step after which the failure is reported, even if the VM's resources are not all
     * removed.
     */
    private static final Duration REPORT_DELAY = Duration.ofSeconds(15);

    private final VmRuns runs;
    private final NodeHealthMonitor healthMonitor;
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
    VmRun(VmRuns runs, NodeHealthMonitor healthMonitor, VmRunListener listener, VmRunPhase phase) {
        this.runs = runs;
        this.healthMonitor = healthMonitor;
        this.listener = listener;
        this.phase = phase;
    }

    /** Waits until the first reconcile pass has observed this host. */
    void awaitFirstPass() throws InterruptedException {
        runs.awaitFirstPass();
    }

    /** Returns a wait that ends when the run is stopped. */
    LeaseWait leaseWait() {
        return new LeaseWait() {
            @Override
            public long nowNs() {
                return System.nanoTime();
            }

            @Override
            public boolean pause(Duration time) throws InterruptedException {
                return !stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
            }
        };
    }

    /** Stops the VM if the run was stopped before the ledger had an entry to record that in. */
    void onClaimed() {
        if (stopped.getCount() == 0) {
            stop();
        }
    }

    /**
     * Registers the run under its VM's UUID.
     *
     * @return false if the run was stopped before anything was created
     */
    boolean register(ResourceOwner owner) {
        synchronized (this) {
            if (stopped.getCount() > 0) {
                uuid = owner.uuid();
                runs.register(owner.uuid(), this);
                return true;
            }
        }
        onStopped("the VM was stopped before its start");
        return false;
    }

    /** Sets the VM of a run that reattached to it. */
    synchronized void setVm(String vm) {
        uuid = vm;
    }

    /** Returns the UUID of the run's VM; null before the run is registered. */
    synchronized @Nullable String vm() {
        return uuid;
    }

    /** Reports that nothing was started, or nothing that has to be removed. */
    void onRefused(StartFailed why) {
        finish(VmRunResultMapping.of(why, phase));
    }

    /** Reports that the run was stopped before its VM was created. */
    void onStopped(String message) {
        finish(new VmRunResult(VmRunCode.STOPPED, phase, message, ""));
    }

    /**
     * Records why the start failed. The failure is reported when nothing of the VM is left, or when its removal takes
     * too long.
     */
    synchronized void onBuildFailed(VmBuildFailed e) {
        failure = e;
        failedNs = System.nanoTime();
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
        healthMonitor.onVmEnded(result);
        listener.onResult(result);
    }
}
