package org.cloister.protocol.dsse;

import java.io.IOException;

/** An envelope that is well-formed and not what was asked for. The text says both values and the remedy. */
public final class EnvelopeRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /** What to branch on. */
    public enum Reason {
        /** It holds another kind of payload. */
        OTHER_TYPE,
        /** Not enough of the keys signed it. */
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
