package org.cloister.host.tickets;

import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.SignedRequest;

/**
 * Verified response to a claim: both signatures are valid, and both name this host and this global job.
 *
 * @param slot this host's, of the allocation
 * @param signed with its signer, whose chain was verified
 * @param relay that signed the allocation
 * @param project whose documents the signer was verified with
 */
public record VerifiedClaim(
        AllocatedSlot slot,
        Allocation allocation,
        SignedRequest signed,
        CertifiedIdentity relay,
        ProjectHistory project) {}
