package org.cloister.host.drive;

/** Thrown if an opening cannot acquire its drive: permanently, or until an operator repairs the cause. */
public final class DriveLeaseRefused extends Exception {
    private static final long serialVersionUID = 1;

    private final String hint;

    /** @param hint what to do */
    DriveLeaseRefused(String message, String hint) {
        super(message + "; " + hint);
        this.hint = hint;
    }

    public String hint() {
        return hint;
    }
}
