package org.cloister.host.slurmstep;

import java.io.IOException;

/**
 * Thrown if a process is in no step of Slurm that could contain a VM: no step started it, or Slurm creates no cgroups
 * here.
 */
public final class NotInJobStep extends IOException {
    private static final long serialVersionUID = 1;

    public NotInJobStep(String message) {
        super(message);
    }
}
