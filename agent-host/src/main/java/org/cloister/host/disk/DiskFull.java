package org.cloister.host.disk;

import java.io.IOException;
import java.nio.file.Path;

/** There is no room for a scratch file; nothing was made. */
public final class DiskFull extends IOException {
    private static final long serialVersionUID = 1;

    DiskFull(Path folder, String want, String have, String remedy) {
        super("scratch folder " + folder + ": disk full: want " + want + ", have " + have + "; " + remedy);
    }
}
