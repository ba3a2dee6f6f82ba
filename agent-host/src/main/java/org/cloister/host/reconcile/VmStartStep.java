package org.cloister.host.reconcile;

import java.util.EnumSet;

/**
 * Step of a VM's start, in order. The ledger records a step before it runs, so an entry's last step may not have taken
 * effect.
 */
public enum VmStartStep {
    /** Ticket and slot belong to this VM, and to no other on this host ever. */
    CLAIMED,
    /** The VM's folder and its content: overlay and sockets. */
    OVERLAY,
    SCRATCH,
    TAP,
    PORT,
    /** The domain exists, and its guest has not started. */
    DOMAIN_PAUSED,
    /** All of its process is in the job's step, and was observed there. */
    MOVED,
    RUNNING,
    /** The guest has registered. */
    REGISTERED;

    boolean isNextAfter(VmStartStep before) {
        return compareTo(before) > 0 && EnumSet.range(before, this).size() == 2;
    }
}
