package org.cloister.host.ticket;

import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.Slot;

/**
 * What this host is to run: both signatures hold, and both mean this host and this Global job.
 *
 * @param slot this host's own of the allocation's
 * @param signed with its signer, as the chain was verified
 * @param relay that allocated
 * @param project by whose documents the signer was believed
 */
public record Assigned(
        Slot slot, Allocation allocation, SignedRequest signed, Identity relay, ProjectHistory project) {}
