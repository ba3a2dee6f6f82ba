package org.cloister.vm.controller.slurm;

/**
 * A worker's node in the Local Slurm.
 *
 * @param feature its ticket's, {@link LocalSlurm#feature}
 */
public record LocalSlurmNode(String name, String feature, State state, int cpus, long memoryMib) {
    /** State of a node, as far as it matters here. */
    public enum State {
        /** Accepts a job. */
        IDLE,
        /** Has a job, or its epilog runs. */
        BUSY,
        /** Has no job and accepts none: drained, or its slurmd does not respond. */
        UNAVAILABLE,
        /** Has a job and accepts no other. */
        DRAINING
    }
}
