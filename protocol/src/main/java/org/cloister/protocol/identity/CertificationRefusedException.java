package org.cloister.protocol.identity;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Refusal of an authority to certify a request. The text has the subject, both values and the remedy. */
public final class CertificationRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    public CertificationRefusedException(String subject, String wanted, String had, String remedy) {
        this(subject, wanted, had, remedy, null);
    }

    CertificationRefusedException(String subject, String wanted, String had, String remedy, @Nullable Throwable cause) {
        super(subject + ": want " + wanted + ", have " + had + "; " + remedy, cause);
    }
}
