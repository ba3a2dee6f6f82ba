package org.cloister.vm.worker;

import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** Receives what metrics count of a worker. */
public interface WorkerMetrics {
    /** Records whether the circuit to the controlling VM is open. */
    void setCircuitOpen(boolean isOpen);

    /** Records that the worker completed a phase. */
    void phasePassed(WorkerPhase phase, Duration took);

    /** Counts a failure in {@code phase}. */
    void attemptFailed(WorkerPhase phase);
}
