package org.cloister.protocol.identity;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Refusal of an authority to certify a request. The text has the subject, both values and the remedy. */
public final class CertificationRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    public CertificationRefusedException(String subject, String expected, String actual, String remedy) {
        this(subject, expected, actual, remedy, null);
    }

    CertificationRefusedException(
            String subject, String expected, String actual, String remedy, @Nullable Throwable cause) {
        super(subject + ": want " + expected + ", have " + actual + "; " + remedy, cause);
    }
}
