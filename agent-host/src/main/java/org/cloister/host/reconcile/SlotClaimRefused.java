package org.cloister.host.reconcile;

/** A VM is not started: its place is another's, or was. */
public final class SlotClaimRefused extends Exception {
    private static final long serialVersionUID = 1;

    SlotClaimRefused(String message) {
        super(message);
    }
}
