package org.cloister.daemon;

import java.io.IOException;
import java.util.List;

/** An invalid configuration, with all its errors, one line each: {@code FILE:LINE: what, both values, remedy}. */
public final class InvalidConfigException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient List<String> problems;

    public InvalidConfigException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
