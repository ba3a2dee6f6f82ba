package org.cloister.vm.system.daemon;

import java.io.IOException;

/** Daemons that a service manager keeps. */
public interface UnitControl {
    /**
     * It runs as these settings say when this returns; one that ran before is started anew.
     *
     * @param settings what its unit has besides, or instead
     */
    void start(String unit, String settings) throws IOException;

    /** Begun anew if it runs; that it comes up is not waited for. */
    void tryRestart(String unit) throws IOException;

    /** It does not run when this returns, whether it did before or not. */
    void stop(String unit) throws IOException;
}
