package org.cloister.host.slurmstep;

import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/**
 * Thrown if a process is in no step of Slurm that could contain a VM: no step started it, or Slurm creates no cgroups
 * here.
 */
public final class NotInJobStep extends StartFailed {
    private static final long serialVersionUID = 1;

    public NotInJobStep(String text, String hint) {
        super(VmRunCode.REFUSED, text, hint);
    }
}
