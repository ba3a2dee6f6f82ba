package org.cloister.host.ledger;

import java.util.Optional;
import org.cloister.host.vm.VmOwner;

/**
 * What the ledger has of one VM.
 *
 * @param scratch whether it has a scratch disk
 * @param claimedMs since the epoch; of one whose entry was lost, when it was found
 * @param step the last that was begun
 */
public record Entry(VmOwner owner, boolean scratch, long claimedMs, Step step, Optional<End> end) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public Entry {
        if (claimedMs < 0) {
            throw new IllegalArgumentException("entry: claimed: want ms since 1970, have " + claimedMs);
        }
    }

    public static Entry claim(VmOwner owner, boolean scratch, long nowMs) {
        return new Entry(owner, scratch, nowMs, Step.CLAIMED, Optional.empty());
    }

    Entry at(Step next) {
        return new Entry(owner, scratch, claimedMs, next, end);
    }

    Entry ending(End why) {
        return new Entry(owner, scratch, claimedMs, step, Optional.of(why));
    }

    boolean isEnding() {
        return end.isPresent();
    }

    /** Whether a VM of this entry that is all right has the part. */
    boolean has(Part part) {
        return part != Part.SCRATCH || scratch;
    }

    boolean hasBegun(Step other) {
        return step.compareTo(other) >= 0;
    }
}
