package org.cloister.relay.state;

/** Thrown when the stored state rejects a request for a reason that the requester caused; the database is intact. */
public abstract sealed class StateConflictException extends Exception
        permits DuplicateTicketException, TicketSequenceException, PoolExhaustedException {
    private static final long serialVersionUID = 1;

    StateConflictException(String text) {
        super(text);
    }
}
