package org.cloister.host.reconcile;

import java.io.IOException;

/** Makes one VM, step by step, from {@link VmStartStep#OVERLAY} to {@link VmStartStep#RUNNING}. */
public interface VmStepRunner {
    /** Whether nothing is there under the name of what the step makes; true if it makes no such thing. */
    boolean isFree(VmStartStep step) throws IOException;

    /** Returns when it is done. Marks what it makes with its owner. */
    void run(VmStartStep step) throws IOException;
}
