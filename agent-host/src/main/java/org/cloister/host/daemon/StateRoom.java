package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The free space on the file system of the host's state: without it no VM can be recorded before its start.
 *
 * @param folder of the state
 * @param required bytes, of those that processes without privileges can use
 */
record StateRoom(Path folder, long required) {
    /** Many times of what the ledger, the statements and the heads have. */
    static final long REQUIRED = 64L << 20;

    /** Returns why the host accepts no work; empty while there is room. */
    Optional<String> failure() {
        long free;
        try {
            free = Files.getFileStore(folder).getUsableSpace();
        } catch (IOException e) {
            return Optional.of(folder + ": its free space is unknown: " + e);
        }
        return free >= required
                ? Optional.empty()
                : Optional.of(folder + ": want " + (required >> 10) + " KiB free on its file system, have "
                        + (free >> 10) + " KiB; remove what fills it");
    }
}
