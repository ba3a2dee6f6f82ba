package org.cloister.host.control;

import java.io.IOException;
import org.cloister.host.slurmstep.JobNumbers;
import org.cloister.host.slurmstep.StepCgroup;

/** Finds the job that a process belongs to, from the kernel. */
@FunctionalInterface
public interface CallerJobLookup {
    /** Returns the lookup that every host uses: the process's cgroups. */
    static CallerJobLookup fromCgroups(JobNumbers numbers) {
        return pid -> StepCgroup.of(pid, numbers).job();
    }

    /**
     * Returns the number of the process's job.
     *
     * @throws IOException if the process is in no step of the Global Slurm, or has ended
     */
    long jobOf(long pid) throws IOException;
}
