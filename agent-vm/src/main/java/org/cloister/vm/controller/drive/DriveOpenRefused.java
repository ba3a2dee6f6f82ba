package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.util.Locale;

/** The drive is not opened. What is on it is as it was. */
public final class DriveOpenRefused extends IOException {
    private static final long serialVersionUID = 1;

    private final Reason why;

    /** In one word, for operators. */
    public enum Reason {
        /** The VM has no such disk. */
        NO_DISK,
        /** To be made, and something is on it. */
        NOT_EMPTY,
        /** To be found, and nothing of a drive is on it. */
        NO_DRIVE,
        /** To be found, and its making was cut short. */
        UNFINISHED,
        /** Its header is not of the form that drives are made in: somebody changed it, or another program made it. */
        DRIVE_HEADER,
        /** Another key than the drive's. */
        DRIVE_KEY,
        /** Not older than the opening: somebody has opened it since, or with the same opening. */
        DRIVE_EPOCH,
        /** A step failed; the text has more. */
        DRIVE;

        /** As it is said to the opener. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    public DriveOpenRefused(Reason why, String subject, String want, String have, String remedy) {
        super(subject + ": want " + want + ", have " + have + "; " + remedy);
        this.why = why;
    }

    DriveOpenRefused(Reason why, IOException cause) {
        super(cause.getMessage(), cause);
        this.why = why;
    }

    public Reason reason() {
        return why;
    }
}
