package org.cloister.host.control;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.cloister.host.reconcile.VmStartStep;

/** How far a VM has come, in order, as whoever waits for it is told. A word stays what it is once it was in a release. */
public enum VmRunPhase {
    /** Global Slurm has the caller's job here, for the ticket. */
    JOB,
    /** The relay gave ticket and allocation, and both hold. */
    TICKET,
    /** The image is what its manifest says. */
    IMAGE,
    /** A controlling VM's drive is its own: nobody else writes to it. Others have none. */
    DRIVE,
    OVERLAY,
    SCRATCH,
    TAP,
    PORT,
    /** The domain is there and its guest has not begun. */
    DOMAIN,
    /** All of it is in the job's step. */
    STEP,
    RUNNING,
    /** Its guest has spoken. */
    REGISTERED,
    /** It is gone, and all that it had. */
    GONE;

    /** @return empty of a step that is none to be told of */
    public static Optional<VmRunPhase> of(VmStartStep step) {
        return switch (step) {
            case CLAIMED -> Optional.empty();
            case OVERLAY -> Optional.of(OVERLAY);
            case SCRATCH -> Optional.of(SCRATCH);
            case TAP -> Optional.of(TAP);
            case PORT -> Optional.of(PORT);
            case DOMAIN_PAUSED -> Optional.of(DOMAIN);
            case MOVED -> Optional.of(STEP);
            case RUNNING -> Optional.of(RUNNING);
            case REGISTERED -> Optional.of(REGISTERED);
        };
    }

    public static Optional<VmRunPhase> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** As lines have it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
