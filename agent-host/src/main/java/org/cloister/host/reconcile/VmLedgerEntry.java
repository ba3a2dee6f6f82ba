package org.cloister.host.reconcile;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * What the ledger has of one VM.
 *
 * @param scratch whether it has a scratch disk
 * @param claimedMs since the epoch; of one whose entry was lost, when it was found
 * @param step the last that was begun
 */
public record VmLedgerEntry(
        ResourceOwner owner, boolean scratch, long claimedMs, VmStartStep step, Optional<VmTermination> end) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public VmLedgerEntry {
        if (claimedMs < 0) {
            throw new IllegalArgumentException("entry: claimed: want ms since 1970, have " + claimedMs);
        }
    }

    public static VmLedgerEntry claim(ResourceOwner owner, boolean scratch, long nowMs) {
        return new VmLedgerEntry(owner, scratch, nowMs, VmStartStep.CLAIMED, Optional.empty());
    }

    VmLedgerEntry at(VmStartStep next) {
        return new VmLedgerEntry(owner, scratch, claimedMs, next, end);
    }

    VmLedgerEntry ending(VmTermination why) {
        return new VmLedgerEntry(owner, scratch, claimedMs, step, Optional.of(why));
    }

    boolean isEnding() {
        return end.isPresent();
    }

    /** Whether a VM of this entry that is all right has the part. */
    boolean has(ResourceKind part) {
        return part != ResourceKind.SCRATCH || scratch;
    }

    boolean hasBegun(VmStartStep other) {
        return step.compareTo(other) >= 0;
    }
}
