package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.util.Locale;

/** The drive is not opened; its content is unchanged. */
public final class DriveOpenRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final Reason reason;

    /** Reason in one word, for operators. */
    public enum Reason {
        /** The VM has no such disk. */
        NO_DISK,
        /** A new drive was requested, and the disk is not empty. */
        NOT_EMPTY,
        /** An existing drive was requested, and the disk has none. */
        NO_DRIVE,
        /** An existing drive was requested, and its creation was interrupted. */
        UNFINISHED,
        /**
         * The header does not have the form in which drives are created: it was changed, or another program wrote it.
         */
        DRIVE_HEADER,
        /** The key is not the drive's. */
        DRIVE_KEY,
        /** The drive's epoch is not older than the opening's: the drive was opened since, or with the same opening. */
        DRIVE_EPOCH,
        /** A step failed; the text has the details. */
        DRIVE;

        /** Returns the reason as it is sent to the opener. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    public DriveOpenRefused(Reason reason, String subject, String expected, String actual, String remedy) {
        super(subject + ": want " + expected + ", have " + actual + "; " + remedy);
        this.reason = reason;
    }

    DriveOpenRefused(Reason reason, IOException cause) {
        super(cause.getMessage(), cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
