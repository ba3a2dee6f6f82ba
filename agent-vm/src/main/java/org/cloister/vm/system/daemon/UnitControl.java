package org.cloister.vm.system.daemon;

import java.io.IOException;

/** Controls daemons that a service manager runs. */
public interface UnitControl {
    /**
     * Starts a unit with these settings, or restarts it if it runs; it is active when this returns.
     *
     * @param settings added to its unit, or replacing the unit's own
     */
    void start(String unit, String settings) throws IOException;

    /** Restarts the unit if it runs, without waiting until it is up. */
    void tryRestart(String unit) throws IOException;

    /** Stops the unit, whether it runs or not; it does not run when this returns. */
    void stop(String unit) throws IOException;
}
