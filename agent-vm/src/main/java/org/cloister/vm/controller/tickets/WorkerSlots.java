package org.cloister.vm.controller.tickets;

import java.io.IOException;
import java.util.function.Consumer;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/**
 * The workers of tickets: accepts workers that prove that they belong to a slot, hands over to them and reports their
 * progress. No call blocks.
 */
public interface WorkerSlots {
    /** @param events receives what workers report; set once, before all other calls */
    void start(Consumer<WorkerEvent> events);

    /**
     * Expects workers for the slots of a ticket that has nodes. Called again whenever the relay reports them.
     *
     * @param update with the allocation, not parsed
     * @return number of slots in the allocation
     * @throws IOException if the allocation is not this ticket's, or its signer may not allocate
     */
    int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException;

    /** Releases all workers of a ticket, which then end regularly. */
    void release(String ticket);

    /** Forgets a ticket of which nothing remains; workers that still connect are refused. */
    void forget(String ticket);
}
