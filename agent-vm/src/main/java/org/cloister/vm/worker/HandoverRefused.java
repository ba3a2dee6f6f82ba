package org.cloister.vm.worker;

import java.io.IOException;

/** What was handed over is not taken. */
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

    /** What the controlling VM hears. */
    String code() {
        return code;
    }
}
