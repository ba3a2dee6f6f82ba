package org.cloister.vm.queue;

import java.time.Duration;
import org.cloister.vm.worker.Phase;

/** Counts nothing. */
final class NoTimings implements Timings {
    @Override
    public void asked() {}

    @Override
    public void started(Duration took) {}

    @Override
    public void failed(Phase phase) {}

    @Override
    public void passed(Phase phase, Duration took) {}

    @Override
    public void looked(Duration took) {}

    @Override
    public void silent() {}

    @Override
    public void standing(int tickets, int waiting) {}
}
