package org.cloister.host.slurmstep;

import java.io.IOException;

/** Thrown if the step has ended or is about to end: nothing may run for it any longer. */
public final class JobStepEnded extends IOException {
    private static final long serialVersionUID = 1;

    public JobStepEnded(String message) {
        super(message);
    }
}
