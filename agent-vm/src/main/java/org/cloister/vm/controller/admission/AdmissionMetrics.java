package org.cloister.vm.controller.admission;

/** Receives what metrics count of workers' admission. Called on any thread. */
public interface AdmissionMetrics {
    /** Counts an allocation that was refused; its ticket is withdrawn. */
    void allocationRefused();

    /** Counts a circuit, or a request for one, in a worker's name that was not a worker's. */
    void unauthenticatedPeer();
}
