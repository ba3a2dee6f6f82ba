package org.cloister.lab.host;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Step;
import org.cloister.host.machine.Erasures;
import org.cloister.host.machine.VmMaker;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.step.StepCgroup;

/** Taps, ports and flows of many VMs at once, each on a thread of its own as in the daemon. No round looks meanwhile. */
final class WireUps {
    private static final List<Step> STEPS = List.of(Step.TAP, Step.PORT);
    private static final Erasures NONE = erasure -> {};

    private final AgentMachine agent;
    private final Plans plans;
    private final StepCgroup step;

    WireUps(AgentMachine agent, Plans plans, StepCgroup step) {
        this.agent = agent;
        this.plans = plans;
        this.step = step;
    }

    /** @return from before the first begins until the last is done, in ns */
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
            long beganNs = System.nanoTime();
            for (Future<Boolean> each : threads.invokeAll(all)) {
                each.get();
            }
            return System.nanoTime() - beganNs;
        } catch (ExecutionException e) {
            throw new IOException("wire-up: " + e.getMessage(), e);
        } finally {
            threads.shutdown();
            disconnect(made);
        }
    }

    private boolean connect(VmPlan plan) throws IOException {
        VmMaker maker = new VmMaker(agent.parts(), plan, Plans.assignment(plan.owner()), step);
        for (Step each : STEPS) {
            if (!maker.isFree(each)) {
                throw new IOException(each + ": want a name of its own, have something under it");
            }
            maker.make(each);
        }
        return true;
    }

    private void disconnect(List<VmPlan> made) throws IOException {
        Machine machine = agent.local(NONE);
        for (VmPlan each : made) {
            machine.remove(each.owner(), Part.PORT);
            machine.remove(each.owner(), Part.TAP);
        }
    }
}
