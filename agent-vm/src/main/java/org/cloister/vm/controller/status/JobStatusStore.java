package org.cloister.vm.controller.status;

import java.util.Set;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;

/** What {@code agentctl vm why} answers from. No call fails: what cannot be written is logged and tried with the next. */
public interface JobStatusStore {
    void set(LocalSlurmJobId job, JobStatus status);

    void clear(LocalSlurmJobId job);

    /** Forgets all others. */
    void retain(Set<LocalSlurmJobId> jobs);
}
