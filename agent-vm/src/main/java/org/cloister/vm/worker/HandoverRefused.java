package org.cloister.vm.worker;

import java.io.IOException;

/** Thrown when a hand-over or readmission is refused. */
final class HandoverRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final String code;

    HandoverRefused(String code, String message) {
        super("hand-over: " + message);
        this.code = code;
    }

    HandoverRefused(String code, String message, Throwable cause) {
        super("hand-over: " + message, cause);
        this.code = code;
    }

    /** Returns the code that the controlling VM receives. */
    String code() {
        return code;
    }
}
