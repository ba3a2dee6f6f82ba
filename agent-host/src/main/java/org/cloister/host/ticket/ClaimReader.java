package org.cloister.host.ticket;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.function.Predicate;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;

/**
 * Holds what the relay gave for a claim against what the host knows itself; docs/protocol.md, section 13.
 *
 * @param key the host's own
 * @param beliefs the site's authority, and the projects that claims have brought
 * @param used whether the host's ledger has the ticket
 */
public record ClaimReader(VerificationKey key, Beliefs beliefs, EpochBook epochs, Predicate<String> used) {
    /**
     * When it returns, the epoch of the ticket or the opening is on disk.
     *
     * @param relay whom the link showed
     * @param ticket its id, as the caller's job has it
     * @param job from the caller's cgroup
     * @throws TicketRefused by the first clause that denies
     */
    public Assigned read(OfficeMessage.Claimed claimed, Identity relay, String ticket, long job) throws IOException {
        String subject = "ticket " + ticket;
        byte[] asked = claimed.ticket().toByteArray();
        String project = TicketIds.project(asked)
                .orElseThrow(() -> new TicketRefused(
                        TicketClause.MALFORMED,
                        subject,
                        "a ticket of a project",
                        asked.length + " bytes without one",
                        "bring both ends to one release"));
        ProjectReader projects = new ProjectReader(beliefs, epochs);
        ProjectHistory history = projects.read(subject, project, claimed.project());
        SignedRequest signed = SignedRequest.read(asked, projects.signer(subject, chain(subject, claimed)));
        requireSame(subject, "project " + project, project, signed.project());
        requireSame(subject, "it as the relay's answer", ticket, signed.id());
        byte[] envelope = claimed.allocation().toByteArray();
        Slot slot = ClaimCheck.require(
                signed,
                envelope,
                relay,
                new ClaimCheck.Claimant(key, job, epochs.before(signed), used.test(ticket)),
                beliefs.now());
        Allocation allocation = ClaimCheck.read(envelope, relay);
        epochs.raise(signed);
        return new Assigned(slot, allocation, signed, relay, history);
    }

    private static void requireSame(String subject, String what, String want, String have) throws TicketRefused {
        if (!want.equals(have)) {
            throw new TicketRefused(
                    TicketClause.PROJECT,
                    subject,
                    what,
                    have,
                    "somebody shows what was made for others; look at the relay");
        }
    }

    private static Chain chain(String subject, OfficeMessage.Claimed claimed) throws TicketRefused {
        try {
            return Chain.parse(
                    claimed.chain().stream().map(ByteString::toByteArray).toList());
        } catch (IdentityRefused e) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of its signer",
                    String.valueOf(e.getMessage()),
                    "look at the relay");
        }
    }
}
