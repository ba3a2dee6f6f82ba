package org.cloister.relay.slurm;

/** State of a ticket's job, reduced from Slurm's job states. */
public enum GlobalJobState {
    /** The job waits, is held or requeued, or its nodes are not up yet. */
    PENDING,
    /**
     * Slurm reports a state that this version does not know. The job has not ended, and nothing follows from it until
     * Slurm reports another one.
     */
    UNKNOWN,
    /** The job has its nodes; suspended jobs count too. */
    RUNNING,
    /**
     * The job's steps have been signalled to end and its nodes are not free yet; a later state reports how it ended.
     */
    ENDING,
    COMPLETED,
    FAILED,
    CANCELLED,
    TIMEOUT,
    NODE_FAILED,
    PREEMPTED;

    /** Returns whether the job has ended and its nodes are free. */
    public boolean hasEnded() {
        return compareTo(ENDING) > 0;
    }
}
