package org.cloister.vm.controller.tickets;

import java.io.IOException;
import java.util.List;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** Keeps what becomes of tickets, for their receipts: told before anything else is done about it. */
public interface TicketRecorder {
    /**
     * Before a relay hears of it; again with each time that it is said.
     *
     * @param envelope as it is said now
     */
    void recordSubmission(Ticket ticket, byte[] envelope) throws IOException;

    /** Of a ticket that it may not know; also of one that has ended. */
    void recordUpdate(RelayTicketMessage.Update update) throws IOException;

    /** A host's, unread. */
    void recordHostStatement(RelayTicketMessage.ForwardedStatement part) throws IOException;

    /** The relay never took it. */
    void recordRejection(String ticket) throws IOException;

    /** The relay knows nothing of it any more. */
    void recordForgotten(String ticket) throws IOException;

    /** Tickets that have ended, of which a part may still come. */
    List<String> awaitedTickets();
}
