package org.cloister.host.tickets;

import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.SignedRequest;

/**
 * What this host is to run: both signatures hold, and both mean this host and this Global job.
 *
 * @param slot this host's own of the allocation's
 * @param signed with its signer, as the chain was verified
 * @param relay that allocated
 * @param project by whose documents the signer was believed
 */
public record VerifiedClaim(
        AllocatedSlot slot,
        Allocation allocation,
        SignedRequest signed,
        CertifiedIdentity relay,
        ProjectHistory project) {}
