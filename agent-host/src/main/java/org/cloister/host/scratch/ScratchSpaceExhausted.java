package org.cloister.host.scratch;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if there is no space for a scratch file; nothing was created. */
public final class ScratchSpaceExhausted extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean promised;

    /** @param promised true if the space is promised to other VMs or the budget is smaller than the request */
    ScratchSpaceExhausted(Path folder, boolean promised, String want, String have, String remedy) {
        super("scratch folder " + folder + ": disk full: want " + want + ", have " + have + "; " + remedy);
        this.promised = promised;
    }

    /**
     * Returns true if projects request more than this host's budget; false if its file system has less space than
     * configured.
     */
    public boolean isBudgetExceeded() {
        return promised;
    }
}
