package org.cloister.vm.controller.status;

import java.util.Set;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;

/**
 * Stores the statuses that {@code agentctl vm why} shows. No call fails: a failed write is logged, and the next call
 * retries.
 */
public interface JobStatusStore {
    void set(LocalSlurmJobId job, JobStatus status);

    void clear(LocalSlurmJobId job);

    /** Forgets all other jobs. */
    void retain(Set<LocalSlurmJobId> jobs);
}
