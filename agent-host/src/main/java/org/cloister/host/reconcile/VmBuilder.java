package org.cloister.host.reconcile;

import java.io.IOException;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/**
 * Builds VMs, each on the thread of its caller. Every step is in the ledger before it runs. The builder removes
 * nothing: a VM that fails is marked as ending, and left to {@link ReconcilePass}.
 */
public final class VmBuilder {
    private static final Set<VmStartStep> STEPS = EnumSet.range(VmStartStep.OVERLAY, VmStartStep.RUNNING);

    private final VmLedger ledger;
    private final InstantSource clock;
    private final Set<String> building = ConcurrentHashMap.newKeySet();

    public VmBuilder(VmLedger ledger, InstantSource clock) {
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns the UUIDs of VMs being built, which passes must not change. */
    Set<String> inProgress() {
        return Set.copyOf(building);
    }

    /**
     * Builds a VM; returns when its guest runs.
     *
     * @throws StartFailed if nothing was written or created
     */
    public void build(VmLedgerEntry entry, VmStepRunner runner) throws VmBuildFailed, IOException {
        build(entry, runner, () -> {});
    }

    /**
     * Builds a VM.
     *
     * @param claimed runs once the ledger has the entry, before anything is created; it may end the VM
     */
    public void build(VmLedgerEntry entry, VmStepRunner runner, Runnable claimed) throws VmBuildFailed, IOException {
        String uuid = entry.owner().uuid();
        if (!building.add(uuid)) {
            throw new StartFailed(VmRunCode.REFUSED, "VM " + uuid + " is being built already", "make a new UUID");
        }
        try {
            ledger.claim(entry);
            claimed.run();
            for (VmStartStep step : STEPS) {
                if (step != VmStartStep.SCRATCH || entry.scratch()) {
                    doStep(entry, step, runner);
                } else {
                    startStep(entry, step);
                }
            }
        } finally {
            building.remove(uuid);
        }
    }

    private void doStep(VmLedgerEntry entry, VmStartStep step, VmStepRunner runner) throws VmBuildFailed {
        try {
            if (!runner.isFree(step)) {
                throw new IOException(
                        "something on this host has the name already; agentctl host ledger shows the VMs");
            }
            startStep(entry, step);
            runner.run(step);
        } catch (IOException e) {
            fail(entry, step);
            throw new VmBuildFailed(step, message(entry, step) + e.getMessage(), e);
        }
    }

    private void startStep(VmLedgerEntry entry, VmStartStep step) throws IOException, VmBuildFailed {
        if (!ledger.recordStep(entry.owner().uuid(), step)) {
            throw new VmBuildFailed(step, message(entry, step) + "the VM is ending and gets no further step");
        }
    }

    /**
     * Records a failed step. If that cannot be written, no thread builds the entry any longer, and the next pass ends
     * it.
     */
    private void fail(VmLedgerEntry entry, VmStartStep step) throws VmBuildFailed {
        try {
            ledger.recordEnd(
                    entry.owner().uuid(), new VmTermination(VmTermination.Why.FAILED, step.name(), clock.millis()));
        } catch (IOException e) {
            throw new VmBuildFailed(step, message(entry, step) + e.getMessage(), e);
        }
    }

    private static String message(VmLedgerEntry entry, VmStartStep step) {
        return "VM " + entry.owner().uuid() + ": " + step + ": ";
    }
}
