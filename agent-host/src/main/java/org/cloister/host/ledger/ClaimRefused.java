package org.cloister.host.ledger;

/** A VM is not started: its place is another's, or was. */
public final class ClaimRefused extends Exception {
    private static final long serialVersionUID = 1;

    ClaimRefused(String message) {
        super(message);
    }
}
