package org.cloister.host.reconcile;

import java.io.IOException;

/** Creates one VM, step by step, from {@link VmStartStep#OVERLAY} to {@link VmStartStep#RUNNING}. */
public interface VmStepRunner {
    /** Returns whether the name of the resource that the step creates is free; true if the step creates none. */
    boolean isFree(VmStartStep step) throws IOException;

    /** Runs a step; returns when it is done. Marks the resource that it creates with its owner. */
    void run(VmStartStep step) throws IOException;
}
