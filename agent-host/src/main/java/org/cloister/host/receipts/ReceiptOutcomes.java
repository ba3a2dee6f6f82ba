package org.cloister.host.receipts;

import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFileErasure;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;

/** What the ledger and the scratch folder say of an end, in the receipt's words: the weaker one where it could be either. */
final class ReceiptOutcomes {
    private ReceiptOutcomes() {}

    /** @param why of a VM that was resumed */
    static VmEndReason of(VmTermination.Why why) {
        return switch (why) {
            case ASKED, STEP_GONE, DRIVE_TAKEN -> VmEndReason.STOPPED;
            // libvirt does not tell a guest that powers off from a process that was told to end.
            case DOMAIN_GONE -> VmEndReason.GONE;
            case DIED -> VmEndReason.DIED;
            case NOT_REGISTERED -> VmEndReason.UNREGISTERED;
            case STOPPED, LOST, INTERRUPTED, FAILED, ORPHAN, DRIVE_SILENT -> VmEndReason.FAILED;
        };
    }

    /** Whether its guest may have run for a moment. The ledger has lost the steps of an orphan. */
    static boolean ran(VmLedgerEntry entry, VmTermination end) {
        return entry.step().compareTo(VmStartStep.RUNNING) >= 0 || end.why() == VmTermination.Why.ORPHAN;
    }

    /** A file without bytes was erased by an earlier try, which may have had another method. */
    static ScratchDisposal of(ScratchFileErasure erasure) {
        return erasure.method() == ErasureMethod.OVERWRITE && erasure.bytes() > 0
                ? ScratchDisposal.OVERWRITTEN
                : ScratchDisposal.DISCARDED;
    }
}
