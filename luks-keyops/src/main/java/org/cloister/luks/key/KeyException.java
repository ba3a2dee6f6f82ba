package org.cloister.luks.key;

import java.io.IOException;

/**
 * Failure to make, read, seal or open a key. The message has operation, both values and remedy, never a key's bytes.
 */
public abstract class KeyException extends IOException {
    private static final long serialVersionUID = 1;

    private KeyException(String operation, String expected, String actual, String remedy) {
        super(operation + ": want " + expected + ", have " + actual + "; " + remedy);
    }

    /** The bytes do not have the form that the format's page describes. */
    public static final class Malformed extends KeyException {
        private static final long serialVersionUID = 1;

        public Malformed(String operation, String expected, String actual) {
            super(operation, expected, actual, "see where it comes from");
        }
    }

    /**
     * The form is right, but this key, passphrase or context does not open it. Which of them is wrong cannot be
     * determined.
     */
    public static final class Refused extends KeyException {
        private static final long serialVersionUID = 1;

        public Refused(String operation, String expected, String remedy) {
            super(operation, expected, "other or changed ones", remedy);
        }
    }

    /** A call into a native library failed that fails on no input. */
    public static final class CallFailed extends KeyException {
        private static final long serialVersionUID = 1;

        public CallFailed(String call, String error) {
            super("key operation", call + " to succeed", error, "see the library's version and free memory");
        }
    }
}
