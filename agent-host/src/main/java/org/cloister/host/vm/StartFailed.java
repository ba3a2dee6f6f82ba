package org.cloister.host.vm;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown if a VM cannot be started: with the code that its job step receives, the reason, and what to do about it. */
public class StartFailed extends IOException {
    private static final long serialVersionUID = 1;

    private final VmRunCode code;
    private final String text;
    private final String hint;

    /**
     * @param text what failed, and why
     * @param hint what to do; empty if there is nothing
     */
    public StartFailed(VmRunCode code, String text, String hint) {
        this(code, text, hint, null);
    }

    public StartFailed(VmRunCode code, String text, String hint, @Nullable Throwable cause) {
        super(hint.isEmpty() ? text : text + "; " + hint, cause);
        this.code = code;
        this.text = text;
        this.hint = hint;
    }

    public VmRunCode code() {
        return code;
    }

    /** Returns the message without the hint. */
    public String text() {
        return text;
    }

    public String hint() {
        return hint;
    }
}
