package org.cloister.host.receipt;

import org.cloister.host.disk.Erasing;
import org.cloister.host.disk.Erasure;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Step;
import org.cloister.protocol.receipt.ScratchEnd;
import org.cloister.protocol.receipt.VmEnd;

/** What the ledger and the scratch folder say of an end, in the receipt's words: the weaker one where it could be either. */
final class Ends {
    private Ends() {}

    /** @param why of a VM that was resumed */
    static VmEnd of(End.Why why) {
        return switch (why) {
            case ASKED, STEP_GONE, DRIVE_TAKEN -> VmEnd.STOPPED;
            // libvirt does not tell a guest that powers off from a process that was told to end.
            case DOMAIN_GONE -> VmEnd.GONE;
            case DIED -> VmEnd.DIED;
            case NOT_REGISTERED -> VmEnd.UNREGISTERED;
            case STOPPED, LOST, INTERRUPTED, FAILED, ORPHAN, DRIVE_SILENT -> VmEnd.FAILED;
        };
    }

    /** Whether its guest may have run for a moment. The ledger has lost the steps of an orphan. */
    static boolean ran(Entry entry, End end) {
        return entry.step().compareTo(Step.RUNNING) >= 0 || end.why() == End.Why.ORPHAN;
    }

    /** A file without bytes was erased by an earlier try, which may have had another method. */
    static ScratchEnd of(Erasure erasure) {
        return erasure.method() == Erasing.OVERWRITE && erasure.bytes() > 0
                ? ScratchEnd.OVERWRITTEN
                : ScratchEnd.DISCARDED;
    }
}
