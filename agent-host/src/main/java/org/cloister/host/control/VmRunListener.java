package org.cloister.host.control;

import java.time.Duration;

/** Hears how a job step's VM goes; from any thread, and returns soon even if nobody listens any more. */
public interface VmRunListener {
    /** @param took since the phase before */
    void onPhase(VmRunPhase phase, Duration took);

    /** Once, and nothing after it. */
    void onResult(VmRunResult how);
}
