package org.cloister.relay.slurm;

/** What of Slurm's job states a ticket can be in. */
public enum GlobalJobState {
    /** It waits, is held or requeued, or its nodes are not up yet. */
    PENDING,
    /** It has its nodes; suspended counts too. */
    RUNNING,
    /** Its steps have been told to end, its nodes are not free yet; how it ended is said by a later state. */
    ENDING,
    COMPLETED,
    FAILED,
    CANCELLED,
    TIMEOUT,
    NODE_FAILED,
    PREEMPTED;

    /** Whether it is over, with its nodes free. */
    public boolean hasEnded() {
        return compareTo(ENDING) > 0;
    }
}
