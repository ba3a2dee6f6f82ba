package org.cloister.vm.controller.admission;

import java.util.concurrent.atomic.AtomicLong;

/** Counts in memory. */
public record CountedAdmissionMetrics(AtomicLong refusedAllocations, AtomicLong unauthenticatedPeers)
        implements AdmissionMetrics {
    public CountedAdmissionMetrics() {
        this(new AtomicLong(), new AtomicLong());
    }

    @Override
    public void allocationRefused() {
        refusedAllocations.incrementAndGet();
    }

    @Override
    public void unauthenticatedPeer() {
        unauthenticatedPeers.incrementAndGet();
    }
}
