package org.cloister.vm.controller.tickets;

import java.io.IOException;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** The workers themselves: who shows that it is one, is handed over to, and says how it goes. No call blocks. */
public interface WorkerSlots {
    /**
     * A ticket has nodes: workers for its slots may come. Told again whenever the relay says so.
     *
     * @param update with the allocation, unread
     * @return how many slots the allocation has
     * @throws IOException if the allocation is none of this ticket's, or nobody's who may give one
     */
    int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException;

    /** All workers of it are to end well. */
    void release(String ticket);

    /** Nothing of it is left; workers that still come are strangers. */
    void forget(String ticket);
}
