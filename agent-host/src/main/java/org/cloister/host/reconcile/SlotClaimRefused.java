package org.cloister.host.reconcile;

/** Thrown if a VM is not started because its slot has or had another one, or because a name is in use. */
public final class SlotClaimRefused extends Exception {
    private static final long serialVersionUID = 1;

    SlotClaimRefused(String message) {
        super(message);
    }
}
