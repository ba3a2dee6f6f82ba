package org.cloister.host.plan;

import java.io.IOException;

/** Thrown if this host cannot provide what a VM requires. */
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
