package org.cloister.lab.host;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;

/** Another maker, and what each step took: the look whether its name is free, and the making. Of one VM. */
final class TimedStepMaker implements VmStepRunner {
    private final VmStepRunner maker;
    private final Map<VmStartStep, Long> tookNs = new EnumMap<>(VmStartStep.class);

    TimedStepMaker(VmStepRunner maker) {
        this.maker = maker;
    }

    /** In order. */
    Map<VmStartStep, Long> durationsNs() {
        return tookNs;
    }

    @Override
    public boolean isFree(VmStartStep step) throws IOException {
        long beganNs = System.nanoTime();
        boolean free = maker.isFree(step);
        tookNs.put(step, System.nanoTime() - beganNs);
        return free;
    }

    @Override
    public void run(VmStartStep step) throws IOException {
        long beganNs = System.nanoTime();
        maker.run(step);
        tookNs.merge(step, System.nanoTime() - beganNs, Long::sum);
    }
}
