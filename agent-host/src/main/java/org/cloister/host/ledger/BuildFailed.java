package org.cloister.host.ledger;

/** A VM was not built; its entry says that it ends, and the next round takes away what there is of it. */
public final class BuildFailed extends Exception {
    private static final long serialVersionUID = 1;

    private final Step step;

    BuildFailed(Step step, String message, Throwable cause) {
        super(message, cause);
        this.step = step;
    }

    BuildFailed(Step step, String message) {
        super(message);
        this.step = step;
    }

    /** That failed, or was not begun. */
    public Step step() {
        return step;
    }
}
