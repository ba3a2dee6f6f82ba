package org.cloister.host.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.function.Predicate;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;

/**
 * Verifies the relay's response to a claim against the host's own knowledge; docs/protocol.md, section 13.
 *
 * @param key the host's own
 * @param trustStore with the site CA, and the projects of earlier claims
 * @param isUsed whether the host's ledger has the ticket
 */
public record ClaimResponseVerifier(
        VerificationKey key, TrustStore trustStore, EpochStore epochs, Predicate<String> isUsed) {
    /**
     * Verifies a response. When it returns, the epoch of the ticket or the opening is on disk.
     *
     * @param relay identity that the link proved
     * @param ticket its id in the caller's job
     * @param job from the caller's cgroup
     * @throws TicketRefusedException with the first clause that denies
     */
    public VerifiedClaim verify(RelayTicketMessage.Claimed claimed, CertifiedIdentity relay, String ticket, long job)
            throws IOException {
        String subject = "ticket " + ticket;
        byte[] ticketEnvelope = claimed.ticket().toByteArray();
        String project = UnverifiedTicketIds.project(ticketEnvelope)
                .orElseThrow(() -> new TicketRefusedException(
                        TicketClause.MALFORMED,
                        subject,
                        "a ticket of a project",
                        ticketEnvelope.length + " bytes without one",
                        "update host and relay to the same release"));
        ProjectVerifier projects = new ProjectVerifier(trustStore, epochs);
        ProjectHistory history = projects.verify(subject, project, claimed.project());
        SignedRequest signed =
                SignedRequest.read(ticketEnvelope, projects.verifySigner(subject, chain(subject, claimed)));
        requireSame(subject, "project " + project, project, signed.project());
        requireSame(subject, "the ticket that was claimed, " + ticket, ticket, signed.id());
        byte[] envelope = claimed.allocation().toByteArray();
        AllocatedSlot slot = AllocationVerifier.require(
                signed,
                envelope,
                relay,
                new AllocationVerifier.Claimant(key, job, epochs.highestEpoch(signed), isUsed.test(ticket)),
                trustStore.now());
        Allocation allocation = AllocationVerifier.read(envelope, relay);
        epochs.raise(signed);
        return new VerifiedClaim(slot, allocation, signed, relay, history);
    }

    private static void requireSame(String subject, String what, String expected, String actual)
            throws TicketRefusedException {
        if (!expected.equals(actual)) {
            throw new TicketRefusedException(
                    TicketClause.PROJECT,
                    subject,
                    what,
                    actual,
                    "the relay sent something that is for others; check the relay");
        }
    }

    private static CertificateChain chain(String subject, RelayTicketMessage.Claimed claimed)
            throws TicketRefusedException {
        try {
            return CertificateChain.parse(
                    claimed.chain().stream().map(ByteString::toByteArray).toList());
        } catch (IdentityRefusedException e) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of its signer",
                    String.valueOf(e.getMessage()),
                    "check the relay");
        }
    }
}
