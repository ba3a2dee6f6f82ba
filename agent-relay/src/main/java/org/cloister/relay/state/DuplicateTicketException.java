package org.cloister.relay.state;

/** There is a ticket of this id. */
public final class DuplicateTicketException extends StateConflictException {
    private static final long serialVersionUID = 1;

    private final boolean same;

    DuplicateTicketException(String id, boolean same) {
        super("ticket " + id + ": want an unused id, have one of "
                + (same ? "the same ticket" : "a ticket with other content"));
        this.same = same;
    }

    /** It is this very ticket, asked for again: of the same project and with the same digest. */
    public boolean isSame() {
        return same;
    }
}
