package org.cloister.vm.status;

import java.util.Set;
import org.cloister.vm.slurm.JobId;

/** What {@code agentctl vm why} answers from. No call fails: what cannot be written is logged and tried with the next. */
public interface Statuses {
    void set(JobId job, Status status);

    void clear(JobId job);

    /** Forgets all others. */
    void retain(Set<JobId> jobs);
}
