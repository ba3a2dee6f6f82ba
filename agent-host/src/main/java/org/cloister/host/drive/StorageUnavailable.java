package org.cloister.host.drive;

import java.io.IOException;

/** Thrown if the storage of the drives does not answer, or not as expected. A retry may succeed. */
public final class StorageUnavailable extends IOException {
    private static final long serialVersionUID = 1;

    StorageUnavailable(IOException cause) {
        super("storage of drives: " + cause.getMessage(), cause);
    }
}
