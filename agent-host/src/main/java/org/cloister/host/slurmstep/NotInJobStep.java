package org.cloister.host.slurmstep;

import java.io.IOException;

/** A process is in no step of Slurm's that a VM could be held by: it was not started by one, or Slurm makes no cgroups here. */
public final class NotInJobStep extends IOException {
    private static final long serialVersionUID = 1;

    public NotInJobStep(String message) {
        super(message);
    }
}
