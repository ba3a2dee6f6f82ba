package org.cloister.host.reconcile;

/** Thrown if a VM was not built; its entry is marked as ending, and the next pass removes its resources. */
public final class VmBuildFailed extends Exception {
    private static final long serialVersionUID = 1;

    private final VmStartStep step;

    VmBuildFailed(VmStartStep step, String message, Throwable cause) {
        super(message, cause);
        this.step = step;
    }

    VmBuildFailed(VmStartStep step, String message) {
        super(message);
        this.step = step;
    }

    /** Returns the step that failed or was not started. */
    public VmStartStep step() {
        return step;
    }
}
