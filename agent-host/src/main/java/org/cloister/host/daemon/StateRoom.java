package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The free space on the file system of the host's state: without it no VM can be recorded before its start.
 *
 * @param folder of the state
 */
record StateRoom(Path folder) {
    /** Many times of what the ledger, the statements and the heads have. */
    private static final long REQUIRED_MIB = 64;

    /** Returns why the host accepts no work; empty while there is room. */
    Optional<String> failure() {
        long freeMib;
        try {
            freeMib = Files.getFileStore(folder).getUsableSpace() >> 20;
        } catch (IOException e) {
            return Optional.of(folder + ": its free space is unknown: " + e);
        }
        return freeMib >= REQUIRED_MIB
                ? Optional.empty()
                : Optional.of(folder + ": want " + REQUIRED_MIB + " MiB free on its file system, have " + freeMib
                        + "; remove what fills it");
    }
}
