package org.cloister.ctl.site;

import java.io.IOException;

/** Reports that a relay brought no answer to a machine's request. */
final class NoAnswerException extends IOException {
    private static final long serialVersionUID = 1;

    NoAnswerException(String message) {
        super(message);
    }
}
