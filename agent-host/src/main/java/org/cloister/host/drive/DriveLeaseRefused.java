package org.cloister.host.drive;

/** A drive is not given to who asks for it: for this opening that is so for good, or until somebody mends it. */
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
