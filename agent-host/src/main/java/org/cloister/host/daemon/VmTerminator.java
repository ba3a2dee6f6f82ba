package org.cloister.host.daemon;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;

/** Stops VMs on behalf of callers other than the reconcile loop, which then carries out their end. */
record VmTerminator(
        VmLedger ledger, HostMetrics metrics, Runnable wakeLoop, DomainDestroyer domainDestroyer, InstantSource clock) {
    /** Destroys domains, as {@code HostBackend} does. */
    @FunctionalInterface
    interface DomainDestroyer {
        /** Destroys the VM's domain at once; no error if there is none. */
        void destroy(ResourceOwner owner) throws IOException;
    }

    /**
     * Records that the VM must end; the record is on disk when this returns. No effect if the VM is ending already, or
     * is not in the ledger.
     */
    void terminate(String uuid, VmTermination.Why why) throws IOException {
        if (ledger.recordEnd(uuid, new VmTermination(why, "", clock.millis()))) {
            metrics.recordEnd(why);
        }
        wakeLoop.run();
    }

    /**
     * Stops a VM that must not write to its drive any longer, since another VM may. If the ledger cannot be written,
     * such as on a disk that guests have filled, it destroys the domain all the same.
     *
     * @throws IOException if the end is not on disk; the VM's domain is gone unless the message states that this
     *     failed, too
     */
    void fence(String uuid, VmTermination.Why why) throws IOException {
        try {
            terminate(uuid, why);
        } catch (IOException | UncheckedIOException e) {
            Optional<VmLedgerEntry> entry = ledger.entry(uuid);
            if (entry.isPresent()) {
                destroyDomain(entry.get().owner(), e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    private void destroyDomain(ResourceOwner owner, Exception writeFailure) throws IOException {
        try {
            domainDestroyer.destroy(owner);
        } catch (IOException e) {
            e.addSuppressed(writeFailure);
            throw new IOException(
                    writeFailure.getMessage() + "; and the domain cannot be destroyed: " + e.getMessage(), e);
        }
    }
}
