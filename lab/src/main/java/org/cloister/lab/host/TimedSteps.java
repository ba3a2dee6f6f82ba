package org.cloister.lab.host;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import org.cloister.host.ledger.Maker;
import org.cloister.host.ledger.Step;

/** Another maker, and what each step took: the look whether its name is free, and the making. Of one VM. */
final class TimedSteps implements Maker {
    private final Maker maker;
    private final Map<Step, Long> tookNs = new EnumMap<>(Step.class);

    TimedSteps(Maker maker) {
        this.maker = maker;
    }

    /** In order. */
    Map<Step, Long> tookNs() {
        return tookNs;
    }

    @Override
    public boolean isFree(Step step) throws IOException {
        long beganNs = System.nanoTime();
        boolean free = maker.isFree(step);
        tookNs.put(step, System.nanoTime() - beganNs);
        return free;
    }

    @Override
    public void make(Step step) throws IOException {
        long beganNs = System.nanoTime();
        maker.make(step);
        tookNs.merge(step, System.nanoTime() - beganNs, Long::sum);
    }
}
