package org.cloister.vm.controller.queue;

import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Counts nothing. */
final class NoQueueMetrics implements QueueMetrics {
    @Override
    public void ticketRequested() {}

    @Override
    public void jobStarted(Duration took) {}

    @Override
    public void attemptFailed(WorkerPhase phase) {}

    @Override
    public void phasePassed(WorkerPhase phase, Duration took) {}

    @Override
    public void slurmPolled(Duration took) {}

    @Override
    public void slurmUnavailable() {}

    @Override
    public void setQueueState(int tickets, int waiting) {}
}
