package org.cloister.host.ticket;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.Set;
import java.util.function.Predicate;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;

/**
 * Holds what the relay gave for a claim against what the host knows itself; docs/protocol.md, section 13.
 *
 * @param key the host's own
 * @param beliefs the site's authority, and the projects whose tickets are taken
 * @param used whether the host's ledger has the ticket
 */
public record ClaimReader(VerificationKey key, Beliefs beliefs, EpochBook epochs, Predicate<String> used) {
    /**
     * When it returns, the ticket's epoch is on disk.
     *
     * @param relay whom the link showed
     * @param ticket its id, as the caller's job has it
     * @param job from the caller's cgroup
     * @throws TicketRefused by the first clause that denies
     */
    public Assigned read(OfficeMessage.Claimed claimed, Identity relay, String ticket, long job) throws IOException {
        SignedTicket signed = SignedTicket.read(claimed.ticket().toByteArray(), controller(claimed, ticket));
        if (!signed.ticket().id().equals(ticket)) {
            throw new TicketRefused(
                    TicketClause.PROJECT,
                    "ticket " + ticket,
                    "it as the relay's answer",
                    signed.ticket().id(),
                    "somebody shows what was made for others; look at the relay");
        }
        byte[] envelope = claimed.allocation().toByteArray();
        Slot slot = ClaimCheck.require(
                signed,
                envelope,
                relay,
                new ClaimCheck.Claimant(key, job, epochs.of(signed.ticket().project()), used.test(ticket)),
                beliefs.now());
        Allocation allocation = ClaimCheck.read(envelope, relay);
        epochs.raise(signed.ticket());
        return new Assigned(slot, allocation, signed, relay);
    }

    /** A relay brings a project's lists to who serves it, so a host may not have one before the first VM; one counts. */
    private Identity controller(OfficeMessage.Claimed claimed, String ticket) throws TicketRefused {
        try {
            Chain chain = Chain.parse(
                    claimed.chain().stream().map(ByteString::toByteArray).toList());
            Identity controller = beliefs.verifyUnlisted(chain, Set.of(Role.CONTROLLER));
            if (beliefs.lists().all().stream().anyMatch(list -> list.anchor().equals(controller.anchor()))) {
                beliefs.require(controller);
            }
            return controller;
        } catch (IdentityRefused e) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    "ticket " + ticket,
                    "a controlling VM of a project that this host knows",
                    String.valueOf(e.getMessage()),
                    "lay the project's documents into the host's folder of projects, or see that its clock is right");
        }
    }
}
