package org.cloister.vm.controller.queue;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.status.JobStatus;
import org.cloister.vm.controller.status.JobStatusStore;

/** Statuses in memory. */
final class InMemoryJobStatusStore implements JobStatusStore {
    final Map<LocalSlurmJobId, JobStatus> all = new ConcurrentHashMap<>();

    @Override
    public void set(LocalSlurmJobId job, JobStatus status) {
        all.put(job, status);
    }

    @Override
    public void clear(LocalSlurmJobId job) {
        all.remove(job);
    }

    @Override
    public void retain(Set<LocalSlurmJobId> jobs) {
        all.keySet().retainAll(jobs);
    }
}
