package org.cloister.vm.queue;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.status.Status;
import org.cloister.vm.status.Statuses;

/** Statuses in memory. */
final class KnownStatuses implements Statuses {
    final Map<JobId, Status> all = new ConcurrentHashMap<>();

    @Override
    public void set(JobId job, Status status) {
        all.put(job, status);
    }

    @Override
    public void clear(JobId job) {
        all.remove(job);
    }

    @Override
    public void retain(Set<JobId> jobs) {
        all.keySet().retainAll(jobs);
    }
}
