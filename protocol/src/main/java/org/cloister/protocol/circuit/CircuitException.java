package org.cloister.protocol.circuit;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a circuit or a request, before or after it opened; states who ended it, why, and which operation failed.
 */
public final class CircuitException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient CircuitClose close;

    public CircuitException(String what, CircuitClose close) {
        this(what, close, null);
    }

    public CircuitException(String what, CircuitClose close, @Nullable Throwable cause) {
        super(what + ": " + close, cause);
        this.close = close;
    }

    public CircuitClose close() {
        return close;
    }
}
