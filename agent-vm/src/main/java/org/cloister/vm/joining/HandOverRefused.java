package org.cloister.vm.joining;

import java.io.IOException;

/** What was handed over is not taken. */
final class HandOverRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final String code;

    HandOverRefused(String code, String message) {
        super("hand-over: " + message);
        this.code = code;
    }

    HandOverRefused(String code, String message, Throwable cause) {
        super("hand-over: " + message, cause);
        this.code = code;
    }

    /** What the controlling VM hears. */
    String code() {
        return code;
    }
}
