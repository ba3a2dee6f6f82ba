package org.cloister.relay.state;

import org.cloister.protocol.ticket.TicketPosition;

/** Thrown when a ticket does not follow all earlier ones of its project; most likely it is an old one, sent again. */
public final class TicketSequenceException extends StateConflictException {
    private static final long serialVersionUID = 1;

    TicketSequenceException(String project, TicketPosition have, TicketPosition highest) {
        super("project " + project + ": want a ticket after " + text(highest) + ", have " + text(have));
    }

    private static String text(TicketPosition position) {
        return "epoch " + position.epoch() + " number " + position.sequence();
    }
}
