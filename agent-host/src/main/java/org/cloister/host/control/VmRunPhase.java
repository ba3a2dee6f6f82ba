package org.cloister.host.control;

import java.util.Locale;
import java.util.Optional;
import org.cloister.host.reconcile.VmStartStep;

/** Phase of a VM's start, in order, as reported to the waiting job step. A released name never changes. */
public enum VmRunPhase {
    /** The Global Slurm has the caller's job on this host, for the ticket. */
    JOB,
    /** The relay sent ticket and allocation, and both were verified. */
    TICKET,
    /** The image's files match its manifest. */
    IMAGE,
    /** The controlling VM holds its drive's lease, and no other VM writes to the drive. Worker VMs skip this phase. */
    DRIVE,
    OVERLAY,
    SCRATCH,
    TAP,
    PORT,
    /** The domain exists, and its guest has not started. */
    DOMAIN,
    /** All of its process is in the job's step. */
    STEP,
    RUNNING,
    /** The guest has registered. */
    REGISTERED,
    /** The VM and all its resources are gone. */
    GONE;

    /**
     * Returns the phase that a start step completes.
     *
     * @return empty for a step that is not reported
     */
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

    /** Returns the name used in protocol lines. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
