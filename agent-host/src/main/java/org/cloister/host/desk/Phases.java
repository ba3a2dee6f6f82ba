package org.cloister.host.desk;

import java.time.Duration;

/** Hears how a job step's VM goes; from any thread, and returns soon even if nobody listens any more. */
public interface Phases {
    /** @param took since the phase before */
    void reached(Phase phase, Duration took);

    /** Once, and nothing after it. */
    void ended(Ending how);
}
