package org.cloister.relay.state;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the database cannot be used, or not at present; the transaction was not done. The text has the file, the
 * cause and the remedy.
 */
public final class RelayDatabaseException extends IOException {
    private static final long serialVersionUID = 1;

    /** Kind of failure, for callers that distinguish them. */
    public enum Kind {
        /** Another process has locked the database. */
        LOCKED("locked by another process", "two relays cannot share a file: stop the other one, which fuser(1) shows"),
        FULL("no room", "free space on its file system; ends of tickets and clean-ups wait for it too"),
        CORRUPT("damaged", "restore a backup, or move the file away: docs/operations.md states what each costs"),
        READ_ONLY("not writable", "let the relay's user write the file and its folder"),
        /** A newer release has written the database. */
        NEWER("written by a newer release", "install that release again, or restore a backup made before it"),
        /** Numbers that are held do not fit the configured pool. */
        POOL(
                "other networks",
                "configure the former networks again, drain the relay, and change them when nothing is allocated"),
        UNREADABLE("input or output failed", "the kernel's log shows errors of the device");

        private final String what;
        private final String remedy;

        Kind(String what, String remedy) {
            this.what = what;
            this.remedy = remedy;
        }
    }

    private final Kind failure;

    RelayDatabaseException(Path file, Kind failure, String detail, @Nullable Throwable cause) {
        super(file + ": " + failure.what + " (" + detail + "); " + failure.remedy, cause);
        this.failure = failure;
    }

    public Kind failure() {
        return failure;
    }
}
