package org.cloister.ctl.opening;

/** Thrown when a connection or a circuit broke; the result of the request on it is unknown. */
final class ConnectionLostException extends Exception {
    private static final long serialVersionUID = 1;

    ConnectionLostException(String why) {
        super(why);
    }

    ConnectionLostException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
