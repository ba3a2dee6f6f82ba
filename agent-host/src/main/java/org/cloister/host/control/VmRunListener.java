package org.cloister.host.control;

import java.time.Duration;

/**
 * Receives the progress of a job step's VM. Any thread may call; each call returns soon, even if the caller no longer
 * reads.
 */
public interface VmRunListener {
    /**
     * Reports a phase that was reached.
     *
     * @param took time since the previous phase
     */
    void onPhase(VmRunPhase phase, Duration took);

    /** Reports the result; called once, as the last call. */
    void onResult(VmRunResult how);
}
