package org.cloister.protocol.receipt;

import java.util.Locale;

/**
 * One thing that is true or not of a receipt.
 *
 * @param place such as {@code ticket} or {@code slot 3}
 */
public record ReceiptFinding(Level level, String place, String text) {
    /** How sure it is, the worst last. */
    public enum Level {
        /** Signatures say it, and everything that says it agrees. */
        HOLDS,
        /** One signer's word, which nothing here can check. */
        CLAIM,
        /** It cannot be said without more than was given. */
        UNKNOWN,
        WRONG;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String toString() {
        return level + ": " + place + ": " + text;
    }
}
