package org.cloister.host.ticket;

import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Slot;

/**
 * What this host is to run: both signatures hold, and both mean this host and this Global job.
 *
 * @param slot this host's own of the allocation's
 * @param ticket with its controlling VM, as its chain was verified
 * @param relay that allocated
 */
public record Assigned(Slot slot, Allocation allocation, SignedTicket ticket, Identity relay) {
    public ResourceRequest request() {
        return ticket.ticket().request();
    }
}
