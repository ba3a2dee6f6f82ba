package org.cloister.vm.controller.slurm;

/** State of a job. */
public enum LocalSlurmJobState {
    PENDING,
    /** The job has nodes: configuring, running, suspended or stopped. */
    RUNNING,
    /** The epilogs run on its nodes. */
    COMPLETING,
    /** The job has ended, with any result. */
    ENDED,
    /** A state of a newer Slurm: no ticket is requested for the job, and its ticket is kept. */
    UNKNOWN
}
