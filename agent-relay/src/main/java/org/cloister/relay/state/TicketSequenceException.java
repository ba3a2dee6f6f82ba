package org.cloister.relay.state;

/** Thrown when a ticket does not follow all earlier ones of its project; most likely it is an old one, sent again. */
public final class TicketSequenceException extends StateConflictException {
    private static final long serialVersionUID = 1;

    private final transient TicketSequence highest;

    TicketSequenceException(String project, TicketSequence have, TicketSequence highest) {
        super("project " + project + ": want a ticket after " + highest + ", have " + have);
        this.highest = highest;
    }

    public TicketSequence highest() {
        return highest;
    }
}
