package org.cloister.ctl.profile;

import java.io.IOException;
import java.util.List;

/** Thrown when several projects are joined, none is named, and there is no default. */
public final class AmbiguousProfileException extends IOException {
    private static final long serialVersionUID = 1;

    AmbiguousProfileException(List<String> labels) {
        super("missing option --profile: want one of " + String.join(", ", labels)
                + "; agentctl project list --default NAME chooses one for good");
    }
}
