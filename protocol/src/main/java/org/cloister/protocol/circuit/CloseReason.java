package org.cloister.protocol.circuit;

import java.util.Locale;
import org.cloister.base.encoding.MalformedException;

/** Reasons why a circuit or a request ended; docs/protocol.md, section 9. A name is never reused for another reason. */
public enum CloseReason {
    DONE(200),
    BAD_REQUEST(400),
    NOT_ALLOWED(403),
    UNKNOWN(404),
    VERSION(426),
    LIMIT(429),
    REFUSED(502),
    LOCKED(503),
    STARTING(503),
    DRAINING(503),
    NO_ANSWER(504),
    IDLE(0),
    TOTAL(0),
    REVOKED(0),
    LOST(0),
    PROTOCOL(0),
    UNTRUSTED(0),
    CLAIMED(0);

    private final int status;

    CloseReason(int status) {
        this.status = status;
    }

    /** Returns HTTP's status, or 0 for a reason that can only end an open circuit. */
    public int status() {
        return status;
    }

    /** Returns whether a target may refuse a circuit for this reason; a relay passes on no other. */
    public boolean isRefusalOfTarget() {
        return this == REFUSED || this == LOCKED || this == STARTING;
    }

    public static CloseReason parse(CharSequence word) throws MalformedException {
        for (CloseReason reason : values()) {
            if (reason.toString().contentEquals(word)) {
                return reason;
            }
        }
        throw new MalformedException(
                "close reason: want one of protocol.md's, have another one of " + word.length() + " characters");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
