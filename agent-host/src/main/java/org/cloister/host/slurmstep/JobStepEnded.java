package org.cloister.host.slurmstep;

import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;

/** Thrown if the step has ended or is about to end: nothing may run for it any longer. */
public final class JobStepEnded extends StartFailed {
    private static final long serialVersionUID = 1;

    public JobStepEnded(String text) {
        super(VmRunCode.STOPPED, text, "");
    }
}
