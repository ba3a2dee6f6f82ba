package org.cloister.vm.controller.queue;

import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Receives the events that the queue's metrics count. Called by one thread; no call may block or fail. */
public interface QueueMetrics {
    /** Counts a ticket request. */
    void ticketRequested();

    /**
     * Records that a job started.
     *
     * @param took from the ticket's request until its job was seen running
     */
    void jobStarted(Duration took);

    /** Counts an attempt that failed in {@code phase}. */
    void attemptFailed(WorkerPhase phase);

    /** Counts a failed attempt as {@link #attemptFailed(WorkerPhase)}, for implementations that also count by code. */
    default void attemptFailed(EndReason reason) {
        attemptFailed(reason.phase());
    }

    /** Records that a ticket completed a phase, its slowest slot in {@code took}. */
    void phasePassed(WorkerPhase phase, Duration took);

    /** Records a poll of the Local Slurm's jobs and nodes. */
    void slurmPolled(Duration took);

    /** Counts a poll to which the Local Slurm did not respond. */
    void slurmUnavailable();

    /**
     * Sets the queue's state after a poll.
     *
     * @param tickets of which something may remain
     * @param waiting pending jobs
     */
    void setQueueState(int tickets, int waiting);
}
