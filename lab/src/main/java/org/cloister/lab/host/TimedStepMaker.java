package org.cloister.lab.host;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;

/** Measures the steps of another runner for one VM: the check whether the name is free, and the creation. */
final class TimedStepMaker implements VmStepRunner {
    private final VmStepRunner maker;
    private final Map<VmStartStep, Long> tookNs = new EnumMap<>(VmStartStep.class);

    TimedStepMaker(VmStepRunner maker) {
        this.maker = maker;
    }

    /** Returns the duration of each step, in order. */
    Map<VmStartStep, Long> durationsNs() {
        return tookNs;
    }

    @Override
    public boolean isFree(VmStartStep step) throws IOException {
        long startNs = System.nanoTime();
        boolean free = maker.isFree(step);
        tookNs.put(step, System.nanoTime() - startNs);
        return free;
    }

    @Override
    public void run(VmStartStep step) throws IOException {
        long startNs = System.nanoTime();
        maker.run(step);
        tookNs.merge(step, System.nanoTime() - startNs, Long::sum);
    }
}
