package org.cloister.host.desk;

import java.io.IOException;
import org.cloister.host.step.StepCgroup;

/** Which job a process belongs to, by the kernel's word. */
@FunctionalInterface
public interface Steps {
    /** On every host. */
    Steps OF_KERNEL = pid -> StepCgroup.of(pid).job();

    /** @throws IOException if it is in no step of Global Slurm's, or has ended */
    long jobOf(long pid) throws IOException;
}
