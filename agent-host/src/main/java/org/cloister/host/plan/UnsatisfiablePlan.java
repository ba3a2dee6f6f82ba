package org.cloister.host.plan;

import java.io.IOException;

/** A VM cannot be what it would have to be here. */
public final class UnsatisfiablePlan extends IOException {
    private static final long serialVersionUID = 1;

    private final String hint;

    /** @param hint what to do */
    UnsatisfiablePlan(String message, String hint) {
        super(message + "; " + hint);
        this.hint = hint;
    }

    public String hint() {
        return hint;
    }
}
