package org.cloister.preflight.machine;

import java.io.IOException;

/** An item could not be determined. This does not show whether it is present or absent. */
public sealed class UndeterminedException extends IOException permits ProgramTimeoutException {
    private static final long serialVersionUID = 1;

    private final String remedy;

    /**
     * Creates the exception.
     *
     * @param remedy what to do so that it can be determined
     */
    public UndeterminedException(String reason, String remedy) {
        super(reason);
        this.remedy = remedy;
    }

    public UndeterminedException(String reason, String remedy, Throwable cause) {
        super(reason, cause);
        this.remedy = remedy;
    }

    public String remedy() {
        return remedy;
    }

    public String reason() {
        return String.valueOf(getMessage());
    }
}
