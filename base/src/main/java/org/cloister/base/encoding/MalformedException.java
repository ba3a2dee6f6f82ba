package org.cloister.base.encoding;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Input from outside that does not conform to its format. The message names the place, the expected and the actual
 * value.
 */
public final class MalformedException extends IOException {
    private static final long serialVersionUID = 1;

    public MalformedException(String message) {
        super(message);
    }

    public MalformedException(@Nullable String message, Throwable cause) {
        super(message, cause);
    }
}
