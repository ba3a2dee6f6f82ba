package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/** A request for nodes, signed by who may ask: a controlling VM for workers, an opener for the controlling VM. */
public sealed interface SignedRequest permits SignedTicket, SignedOpening {
    /**
     * Which of both it is the envelope says, and who signs that one.
     *
     * @param envelope from anybody
     * @param signer whom the chain that came along names
     * @throws TicketRefused by {@code malformed}, {@code signature} or {@code project}
     */
    static SignedRequest read(byte[] envelope, Identity signer) throws TicketRefused {
        String type;
        try {
            type = Envelope.parse(envelope, Ticket.MAX_BYTES).payloadType();
        } catch (MalformedException e) {
            throw SignedPaper.malformed("request", Ticket.TYPE + " or " + Opening.TYPE, e);
        }
        if (signer.role() == Role.CONTROLLER && Ticket.isType(type)) {
            return SignedTicket.read(envelope, signer);
        }
        if (signer.role() == Role.OPENER && type.equals(Opening.TYPE)) {
            return SignedOpening.read(envelope, signer);
        }
        throw new TicketRefused(
                TicketClause.SIGNATURE,
                "request",
                "a ticket of a controlling VM or an opening of an opener",
                type + " of " + signer.name(),
                "controlling VMs alone sign tickets, openers alone openings");
    }

    String id();

    String project();

    /** Of the opening, or of the controlling VM whose word it is: a ticket may have been taken over by a later one. */
    long epoch();

    Instant issued();

    Instant expires();

    ResourceRequest request();

    /** Of the payload as it was signed. */
    Digest digest();

    Identity signer();

    /** What texts for people begin with. */
    String subject();

    /** Whether a slot of it may have this address: the network's first is the controlling VM's. */
    boolean mayHave(Network network, Address address);
}
