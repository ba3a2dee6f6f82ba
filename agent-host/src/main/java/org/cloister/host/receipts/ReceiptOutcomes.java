package org.cloister.host.receipts;

import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFileErasure;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;

/**
 * Maps ends in the ledger and erasures in the scratch folder to the receipt's values; where two are possible, to the
 * weaker one.
 */
final class ReceiptOutcomes {
    private ReceiptOutcomes() {}

    /**
     * Returns the receipt's reason.
     *
     * @param why end of a VM that was resumed
     */
    static VmEndReason of(VmTermination.Why why) {
        return switch (why) {
            case ASKED, STEP_GONE, DRIVE_TAKEN -> VmEndReason.STOPPED;
            // libvirt does not distinguish a guest that powers off from a process that was asked to stop.
            case DOMAIN_GONE -> VmEndReason.GONE;
            case DIED -> VmEndReason.DIED;
            case NOT_REGISTERED -> VmEndReason.UNREGISTERED;
            case UNRESPONSIVE, STOPPED, LOST, INTERRUPTED, FAILED, ORPHAN, DRIVE_SILENT -> VmEndReason.FAILED;
        };
    }

    /** Returns whether the guest may have run, however briefly. The start steps of an orphan are unknown. */
    static boolean ran(VmLedgerEntry entry, VmTermination end) {
        return entry.step().compareTo(VmStartStep.RUNNING) >= 0 || end.why() == VmTermination.Why.ORPHAN;
    }

    /**
     * Returns the receipt's disposal. A file without bytes was erased by an earlier attempt, which may have used
     * another method.
     */
    static ScratchDisposal of(ScratchFileErasure erasure) {
        return erasure.method() == ErasureMethod.OVERWRITE && erasure.bytes() > 0
                ? ScratchDisposal.OVERWRITTEN
                : ScratchDisposal.DISCARDED;
    }
}
