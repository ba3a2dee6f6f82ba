package org.cloister.relay;

import java.io.IOException;
import java.util.List;

/** A configuration with all that is wrong in it, one line each: {@code FILE:LINE: what, both values, remedy}. */
final class BadConfigException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient List<String> problems;

    BadConfigException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    List<String> problems() {
        return problems;
    }
}
