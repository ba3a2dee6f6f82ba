package org.cloister.protocol.evidence;

import java.io.IOException;

/** A host does not vouch for a VM: it vouched for something else before. An alarm, not a retry. */
public final class IssuanceRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    IssuanceRefusedException(String message) {
        super(message);
    }
}
