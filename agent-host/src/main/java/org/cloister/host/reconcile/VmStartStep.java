package org.cloister.host.reconcile;

import java.util.EnumSet;

/** A VM's way up, in order. The ledger has a step before it is done, so the last one of an entry may not have happened. */
public enum VmStartStep {
    /** Ticket and slot are this VM's, and no other's ever on this host. */
    CLAIMED,
    /** The VM's folder and what lies in it: overlay, sockets. */
    OVERLAY,
    SCRATCH,
    TAP,
    PORT,
    /** There is a domain, and its guest has not begun. */
    DOMAIN_PAUSED,
    /** All of its process is in the job's step, and was seen there. */
    MOVED,
    RUNNING,
    /** Its guest has spoken. */
    REGISTERED;

    boolean isNextAfter(VmStartStep before) {
        return compareTo(before) > 0 && EnumSet.range(before, this).size() == 2;
    }
}
