package org.cloister.relay.state;

/** Thrown when a ticket of this id exists. */
public final class DuplicateTicketException extends StateConflictException {
    private static final long serialVersionUID = 1;

    private final boolean same;

    DuplicateTicketException(String id, boolean same) {
        super("ticket " + id + ": want an unused id, have one of "
                + (same ? "the same ticket" : "a ticket with other content"));
        this.same = same;
    }

    /** Returns whether it is the same ticket, submitted again: of the same project and with the same digest. */
    public boolean isSame() {
        return same;
    }
}
