package org.cloister.protocol.dsse;

import java.io.IOException;

/** Refusal of an envelope that is well-formed but not the requested one. The text has both values and the remedy. */
public final class EnvelopeRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /** Reason of the refusal, for programs to branch on. */
    public enum Reason {
        /** The payload has another type. */
        OTHER_TYPE,
        /** Too few of the keys signed it. */
        TOO_FEW_SIGNATURES
    }

    private final Reason reason;

    EnvelopeRefusedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
