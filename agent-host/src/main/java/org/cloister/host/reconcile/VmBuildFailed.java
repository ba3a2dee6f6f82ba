package org.cloister.host.reconcile;

/** A VM was not built; its entry says that it ends, and the next round takes away what there is of it. */
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

    /** That failed, or was not begun. */
    public VmStartStep step() {
        return step;
    }
}
