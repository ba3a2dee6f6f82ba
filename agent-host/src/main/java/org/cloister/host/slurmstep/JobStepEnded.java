package org.cloister.host.slurmstep;

import java.io.IOException;

/** The step has ended, or is about to: nothing may run for it any more. */
public final class JobStepEnded extends IOException {
    private static final long serialVersionUID = 1;

    public JobStepEnded(String message) {
        super(message);
    }
}
