package org.cloister.host.step;

import java.io.IOException;

/** A process is in no step of Slurm's that a VM could be held by: it was not started by one, or Slurm makes no cgroups here. */
public final class NoStep extends IOException {
    private static final long serialVersionUID = 1;

    public NoStep(String message) {
        super(message);
    }
}
