package org.cloister.host.control;

import java.io.IOException;
import org.cloister.host.slurmstep.StepCgroup;

/** Finds the job that a process belongs to, from the kernel. */
@FunctionalInterface
public interface CallerJobLookup {
    /** Lookup that every host uses: the process's cgroups. */
    CallerJobLookup FROM_CGROUPS = pid -> StepCgroup.of(pid).job();

    /**
     * Returns the number of the process's job.
     *
     * @throws IOException if the process is in no step of the Global Slurm, or has ended
     */
    long jobOf(long pid) throws IOException;
}
