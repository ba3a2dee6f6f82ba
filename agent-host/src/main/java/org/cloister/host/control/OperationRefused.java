package org.cloister.host.control;

/** Thrown if a request is refused. */
public final class OperationRefused extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;

    /** @param hint what the caller can do; empty if there is nothing */
    public OperationRefused(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    public String hint() {
        return hint;
    }
}
