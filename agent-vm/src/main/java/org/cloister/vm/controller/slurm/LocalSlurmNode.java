package org.cloister.vm.controller.slurm;

/**
 * A worker's node in the Local Slurm.
 *
 * @param feature its ticket's, {@link LocalSlurm#feature}
 */
public record LocalSlurmNode(String name, String feature, State state, int cpus, long memoryMib) {
    /** What of a node's states counts here. */
    public enum State {
        /** Takes a job. */
        IDLE,
        /** Has a job, or its epilog runs. */
        BUSY,
        /** Has none and takes none: drained, or its slurmd is not heard of. */
        UNAVAILABLE,
        /** Has a job and takes no other. */
        DRAINING
    }
}
