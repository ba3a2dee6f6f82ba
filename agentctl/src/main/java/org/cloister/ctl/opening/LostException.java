package org.cloister.ctl.opening;

/** A line or a circuit broke, which says nothing of what was asked on it. */
final class LostException extends Exception {
    private static final long serialVersionUID = 1;

    LostException(String why) {
        super(why);
    }

    LostException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
