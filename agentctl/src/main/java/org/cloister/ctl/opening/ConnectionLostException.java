package org.cloister.ctl.opening;

/** A line or a circuit broke, which says nothing of what was asked on it. */
final class ConnectionLostException extends Exception {
    private static final long serialVersionUID = 1;

    ConnectionLostException(String why) {
        super(why);
    }

    ConnectionLostException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
