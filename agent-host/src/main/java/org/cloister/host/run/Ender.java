package org.cloister.host.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.HostMetrics;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.vm.VmOwner;

/** Ends VMs on behalf of others than the rounds, which do it then. */
record Ender(Ledger ledger, HostMetrics metrics, Runnable ring, Cut cut, InstantSource clock) {
    /** As a machine does it. */
    @FunctionalInterface
    interface Cut {
        /** Ends the VM's domain at once; no error if there is none. */
        void off(VmOwner owner) throws IOException;
    }

    /** On disk when this returns. Nothing happens to a VM that is ending, or is not in the ledger. */
    void end(String uuid, End.Why why) throws IOException {
        if (ledger.end(uuid, new End(why, "", clock.millis()))) {
            metrics.ended(why);
        }
        ring.run();
    }

    /**
     * Of a VM that must write to its drive no more, as another may: a ledger that cannot be written, as on a disk that guests have
     * filled, keeps it from being written down and from nothing else.
     *
     * @throws IOException if it is not on disk; the VM's domain is gone unless the message says that, too
     */
    void fence(String uuid, End.Why why) throws IOException {
        try {
            end(uuid, why);
        } catch (IOException | UncheckedIOException e) {
            Optional<Entry> entry = ledger.entry(uuid);
            if (entry.isPresent()) {
                cut(entry.get().owner(), e);
            }
            throw new IOException(e.getMessage(), e);
        }
    }

    private void cut(VmOwner owner, Exception unwritten) throws IOException {
        try {
            cut.off(owner);
        } catch (IOException e) {
            e.addSuppressed(unwritten);
            throw new IOException(unwritten.getMessage() + "; nor is it cut off: " + e.getMessage(), e);
        }
    }
}
