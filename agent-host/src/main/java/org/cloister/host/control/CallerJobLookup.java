package org.cloister.host.control;

import java.io.IOException;
import org.cloister.host.slurmstep.StepCgroup;

/** Which job a process belongs to, by the kernel's word. */
@FunctionalInterface
public interface CallerJobLookup {
    /** On every host. */
    CallerJobLookup FROM_CGROUPS = pid -> StepCgroup.of(pid).job();

    /** @throws IOException if it is in no step of Global Slurm's, or has ended */
    long jobOf(long pid) throws IOException;
}
