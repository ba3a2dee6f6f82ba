package org.cloister.vm.controller.tickets;

import java.util.function.Consumer;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Allocates worker VMs for tickets. No call blocks; results are reported as {@link WorkerEvent}s, on any thread, in
 * order within a slot. Every request may be repeated.
 */
public interface WorkerAllocator {
    /**
     * @param events receives the events of every ticket that is submitted or resumed; set once, before all other calls
     */
    void start(Consumer<WorkerEvent> events);

    /**
     * Requests worker VMs for a ticket.
     *
     * @param ticket its id; recorded by the caller, since it is never requested under another one
     */
    void submitTicket(String ticket, ResourceRequest request);

    /** Resumes a ticket after a restart: its whole state is reported again; an unknown ticket is reported as ended. */
    void resumeTicket(String ticket);

    /** Releases a ticket whose job has run: the VMs close their volumes and end. */
    void releaseTicket(String ticket);

    /** Withdraws a ticket that is not needed, in any state. */
    void withdrawTicket(String ticket);
}
