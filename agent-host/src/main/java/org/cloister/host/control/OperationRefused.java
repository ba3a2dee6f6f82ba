package org.cloister.host.control;

/** What was asked for is not done. */
public final class OperationRefused extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;

    /** @param hint what to do; empty if there is nothing */
    public OperationRefused(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    public String hint() {
        return hint;
    }
}
