package org.cloister.host.scratch;

import java.io.IOException;
import java.nio.file.Path;

/** There is no room for a scratch file; nothing was made. */
public final class ScratchSpaceExhausted extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean promised;

    /** @param promised what there may be is promised to other VMs, or is less than this one wants */
    ScratchSpaceExhausted(Path folder, boolean promised, String want, String have, String remedy) {
        super("scratch folder " + folder + ": disk full: want " + want + ", have " + have + "; " + remedy);
        this.promised = promised;
    }

    /** Projects ask for more than this host gives; otherwise its file system has less than it was to have. */
    public boolean isBudgetExceeded() {
        return promised;
    }
}
