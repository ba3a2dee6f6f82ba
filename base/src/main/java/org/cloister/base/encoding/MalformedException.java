package org.cloister.base.encoding;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Bytes from outside that are not what their format says. The text names the place, what was wanted and what was there. */
public final class MalformedException extends IOException {
    private static final long serialVersionUID = 1;

    public MalformedException(String message) {
        super(message);
    }

    public MalformedException(@Nullable String message, Throwable cause) {
        super(message, cause);
    }
}
