package org.cloister.protocol.evidence;

import java.io.IOException;

/**
 * Refusal of a host to sign a VM's claims because it signed others for this life; raises an alarm and is not retried.
 */
public final class IssuanceRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    IssuanceRefusedException(String message) {
        super(message);
    }
}
