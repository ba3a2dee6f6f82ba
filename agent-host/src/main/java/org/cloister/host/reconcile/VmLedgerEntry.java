package org.cloister.host.reconcile;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * Entry of one VM in the ledger.
 *
 * @param scratch whether it has a scratch disk
 * @param claimedMs time of the claim in ms since the epoch; for an adopted VM, when it was found
 * @param step the last one that was started
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

    /** Returns whether a healthy VM of this entry has a resource of the kind. */
    boolean has(ResourceKind part) {
        return part != ResourceKind.SCRATCH || scratch;
    }

    boolean hasBegun(VmStartStep other) {
        return step.compareTo(other) >= 0;
    }
}
