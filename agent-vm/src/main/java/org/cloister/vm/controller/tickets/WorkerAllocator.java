package org.cloister.vm.controller.tickets;

import java.util.function.Consumer;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Brings worker VMs for tickets. No call blocks; what becomes of it is heard as {@link WorkerEvent}s, from any thread, in
 * a slot's order. Whatever is asked may be asked again.
 */
public interface WorkerAllocator {
    /** @param events hears of every ticket that was asked for or followed since; given once, before anything else */
    void start(Consumer<WorkerEvent> events);

    /** @param ticket its id; recorded by whoever asks, for it is never asked for under another one */
    void submitTicket(String ticket, ResourceRequest request);

    /** After a restart of ours: all that holds of a ticket is told again; of one not known, its end. */
    void resumeTicket(String ticket);

    /** The job has run: the VMs close their volumes and end. */
    void releaseTicket(String ticket);

    /** Nobody needs it, however far it is. */
    void withdrawTicket(String ticket);
}
