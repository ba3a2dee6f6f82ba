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

/** Ends VMs on behalf of others than the rounds, which do it then. */
record VmTerminator(
        VmLedger ledger, HostMetrics metrics, Runnable wakeLoop, DomainDestroyer domainDestroyer, InstantSource clock) {
    /** As a machine does it. */
    @FunctionalInterface
    interface DomainDestroyer {
        /** Ends the VM's domain at once; no error if there is none. */
        void destroy(ResourceOwner owner) throws IOException;
    }

    /** On disk when this returns. Nothing happens to a VM that is ending, or is not in the ledger. */
    void terminate(String uuid, VmTermination.Why why) throws IOException {
        if (ledger.recordEnd(uuid, new VmTermination(why, "", clock.millis()))) {
            metrics.recordEnd(why);
        }
        wakeLoop.run();
    }

    /**
     * Of a VM that must write to its drive no more, as another may: a ledger that cannot be written, as on a disk that guests have
     * filled, keeps it from being written down and from nothing else.
     *
     * @throws IOException if it is not on disk; the VM's domain is gone unless the message says that, too
     */
    void fence(String uuid, VmTermination.Why why) throws IOException {
        try {
            terminate(uuid, why);
        } catch (IOException | UncheckedIOException e) {
            Optional<VmLedgerEntry> entry = ledger.entry(uuid);
            if (entry.isPresent()) {
                cut(entry.get().owner(), e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    private void cut(ResourceOwner owner, Exception unwritten) throws IOException {
        try {
            domainDestroyer.destroy(owner);
        } catch (IOException e) {
            e.addSuppressed(unwritten);
            throw new IOException(unwritten.getMessage() + "; nor is it cut off: " + e.getMessage(), e);
        }
    }
}
