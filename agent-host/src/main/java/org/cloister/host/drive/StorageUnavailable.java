package org.cloister.host.drive;

import java.io.IOException;

/** The storage of all drives does not answer, or not as such a storage does. A later try may do. */
public final class StorageUnavailable extends IOException {
    private static final long serialVersionUID = 1;

    StorageUnavailable(IOException cause) {
        super("storage of drives: " + cause.getMessage(), cause);
    }
}
