package org.cloister.lab;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A failure of the lab: what failed, and what the user can do about it. */
public final class LabException extends IOException {
    private static final long serialVersionUID = 1;

    private final String remedy;

    public LabException(String what, String remedy) {
        this(what, remedy, null);
    }

    public LabException(String what, String remedy, @Nullable Throwable cause) {
        super(what, cause);
        this.remedy = remedy;
    }

    /** Returns a command to type, or a file to read. */
    public String remedy() {
        return remedy;
    }
}
