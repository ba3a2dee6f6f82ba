package org.cloister.preflight.machine;

/** A program was started and did not come to its end in time; the probe of KVM takes that for an answer. */
public final class NoAnswerException extends UnknownException {
    private static final long serialVersionUID = 1;

    public NoAnswerException(String reason, String mend) {
        super(reason, mend);
    }
}
