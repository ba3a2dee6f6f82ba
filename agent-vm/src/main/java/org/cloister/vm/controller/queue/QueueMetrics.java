package org.cloister.vm.controller.queue;

import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Hears what the queue's metrics count. From one thread; no call may block or fail. */
public interface QueueMetrics {
    /** A ticket is asked for. */
    void ticketRequested();

    /** @param took from the ticket's asking until its job was seen running */
    void jobStarted(Duration took);

    /** An attempt failed, in {@code phase}. */
    void attemptFailed(WorkerPhase phase);

    /** As {@link #attemptFailed(WorkerPhase)}, for whoever counts failures by their code, too. */
    default void attemptFailed(EndReason trouble) {
        attemptFailed(trouble.phase());
    }

    /** A ticket went through a phase, its slowest slot in {@code took}. */
    void phasePassed(WorkerPhase phase, Duration took);

    /** The Local Slurm was asked how its jobs and nodes are. */
    void slurmPolled(Duration took);

    /** The Local Slurm gave no answer. */
    void slurmUnavailable();

    /**
     * How it stands after a look.
     *
     * @param tickets of which something may be left
     * @param waiting jobs
     */
    void setQueueState(int tickets, int waiting);
}
