package org.cloister.vm.controller.tickets;

import java.io.IOException;
import java.util.List;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** Records the progress of tickets for their receipts; called before anything else is done about an event. */
public interface TicketRecorder {
    /**
     * Records a ticket before it is sent to a relay; called again each time it is sent.
     *
     * @param envelope as it is sent now
     */
    void recordSubmission(Ticket ticket, byte[] envelope) throws IOException;

    /** Records an update of a ticket, which may be unknown here or have ended. */
    void recordUpdate(RelayTicketMessage.Update update) throws IOException;

    /** Records a host's statement, which is not parsed yet. */
    void recordHostStatement(RelayTicketMessage.ForwardedStatement statement) throws IOException;

    /** Records that the relay never accepted the ticket. */
    void recordRejection(String ticket) throws IOException;

    /** Records that the relay no longer knows the ticket. */
    void recordForgotten(String ticket) throws IOException;

    /** Returns tickets that have ended, of which a part may still arrive. */
    List<String> awaitedTickets();
}
