package org.cloister.vm.controller.slurm;

/** How far a job is. */
public enum LocalSlurmJobState {
    PENDING,
    /** It has nodes: configuring, running, suspended or stopped. */
    RUNNING,
    /** Its nodes' epilogs run. */
    COMPLETING,
    /** For good, however it ended. */
    ENDED
}
