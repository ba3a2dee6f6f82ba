package org.cloister.lab.host;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.resources.ErasureListener;
import org.cloister.host.resources.LocalVmStepRunner;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;

/**
 * Creates taps, ports and flows of many VMs at once, each on its own thread as in the daemon. No reconcile pass runs
 * meanwhile.
 */
final class ParallelPortSetup {
    private static final List<VmStartStep> STEPS = List.of(VmStartStep.TAP, VmStartStep.PORT);
    private static final ErasureListener NONE = erasure -> {};

    private final AgentHostMachine agent;
    private final HostVmPlans plans;
    private final StepCgroup step;

    ParallelPortSetup(AgentHostMachine agent, HostVmPlans plans, StepCgroup step) {
        this.agent = agent;
        this.plans = plans;
        this.step = step;
    }

    /** @return time from the start of the first until the last is done, in ns */
    long connect(int first, int count) throws IOException, InterruptedException {
        List<VmPlan> made = new ArrayList<>();
        for (int number = first; number < first + count; number++) {
            made.add(plans.plan(number, step.job()));
        }
        List<Callable<Boolean>> all = made.stream()
                .<Callable<Boolean>>map(plan -> () -> connect(plan))
                .toList();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            long startNs = System.nanoTime();
            for (Future<Boolean> each : threads.invokeAll(all)) {
                each.get();
            }
            return System.nanoTime() - startNs;
        } catch (ExecutionException e) {
            throw new IOException("wire-up: " + e.getMessage(), e);
        } finally {
            threads.shutdown();
            disconnect(made);
        }
    }

    private boolean connect(VmPlan plan) throws IOException {
        LocalVmStepRunner maker =
                new LocalVmStepRunner(agent.parts(), plan, HostVmPlans.assignment(plan.owner()), step);
        for (VmStartStep each : STEPS) {
            if (!maker.isFree(each)) {
                throw new IOException(each + ": want a name of its own, have something under it");
            }
            maker.run(each);
        }
        return true;
    }

    private void disconnect(List<VmPlan> made) throws IOException {
        HostBackend machine = agent.local(NONE);
        for (VmPlan each : made) {
            machine.remove(each.owner(), ResourceKind.PORT);
            machine.remove(each.owner(), ResourceKind.TAP);
        }
    }
}
