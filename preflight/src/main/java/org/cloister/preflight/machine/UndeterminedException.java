package org.cloister.preflight.machine;

import java.io.IOException;

/** Something could not be found out. This says nothing about whether it is there. */
public sealed class UndeterminedException extends IOException permits ProgramTimeoutException {
    private static final long serialVersionUID = 1;

    private final String mend;

    /** @param mend what to do so that it can be found out */
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
