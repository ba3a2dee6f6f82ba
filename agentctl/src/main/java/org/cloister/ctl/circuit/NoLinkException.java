package org.cloister.ctl.circuit;

import java.io.IOException;

/** Reports that a command's link to a relay did not bring what the command waited for. */
public final class NoLinkException extends IOException {
    private static final long serialVersionUID = 1;

    NoLinkException(String message) {
        super(message);
    }
}
