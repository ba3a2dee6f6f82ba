package org.cloister.relay.state;

/** What the state says no to, for a reason that is the asker's; the database is well. */
public abstract sealed class StateConflictException extends Exception
        permits DuplicateTicketException, TicketSequenceException, PoolExhaustedException {
    private static final long serialVersionUID = 1;

    StateConflictException(String text) {
        super(text);
    }
}
