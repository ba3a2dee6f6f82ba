package org.cloister.protocol.receipt;

import java.util.Locale;

/**
 * Finding of a receipt's verification.
 *
 * @param subject such as {@code ticket} or {@code slot 3}
 */
public record ReceiptFinding(Level level, String subject, String text) {
    /** Certainty of the finding, the worst last. */
    public enum Level {
        /** Signatures confirm it, and all statements about it agree. */
        HOLDS,
        /** A single signer states it, and nothing in the receipt can confirm it. */
        CLAIM,
        /** The given data does not suffice to decide it. */
        UNKNOWN,
        WRONG;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String toString() {
        return level + ": " + subject + ": " + text;
    }
}
