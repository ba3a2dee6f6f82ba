package org.cloister.host.receipts;

import java.io.IOException;
import org.cloister.base.encoding.Digest;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;
import org.cloister.host.resources.VmPlan;

/**
 * Persists that a VM is about to run before the ledger records that step, so that no VM runs without a record for its
 * receipt.
 */
public final class StatementStepRunner implements VmStepRunner {
    private final VmStepRunner runner;
    private final HostStatements parts;
    private final VmPlan plan;
    private final Digest ticket;

    /** @param ticket digest of its payload */
    public StatementStepRunner(VmStepRunner runner, HostStatements parts, VmPlan plan, Digest ticket) {
        this.runner = runner;
        this.parts = parts;
        this.plan = plan;
        this.ticket = ticket;
    }

    @Override
    public boolean isFree(VmStartStep step) throws IOException {
        return runner.isFree(step);
    }

    @Override
    public void run(VmStartStep step) throws IOException {
        runner.run(step);
        if (step == VmStartStep.MOVED) {
            parts.recordStart(plan, ticket);
        }
    }
}
