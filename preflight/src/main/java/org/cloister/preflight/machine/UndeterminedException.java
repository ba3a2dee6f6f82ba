package org.cloister.preflight.machine;

import java.io.IOException;

/** An item could not be determined. This does not show whether it is present or absent. */
public sealed class UndeterminedException extends IOException permits ProgramTimeoutException {
    private static final long serialVersionUID = 1;

    private final String mend;

    /**
     * Creates the exception.
     *
     * @param mend what to do so that it can be determined
     */
    public UndeterminedException(String reason, String mend) {
        super(reason);
        this.mend = mend;
    }

    public UndeterminedException(String reason, String mend, Throwable cause) {
        super(reason, cause);
        this.mend = mend;
    }

    public String remedy() {
        return mend;
    }

    public String reason() {
        return String.valueOf(getMessage());
    }
}
