package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/** A request for nodes, signed by who may ask: a controlling VM for workers, an opener for the controlling VM. */
public sealed interface SignedRequest permits SignedTicket, SignedOpening {
    /**
     * Which of both it is the envelope says, and who signs that one.
     *
     * @param envelope from anybody
     * @param signer whom the chain that came along names
     * @throws TicketRefusedException by {@code malformed}, {@code signature} or {@code project}
     */
    static SignedRequest read(byte[] envelope, CertifiedIdentity signer) throws TicketRefusedException {
        String type;
        try {
            type = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES).payloadType();
        } catch (MalformedException e) {
            throw SignedObjectReader.malformed("request", Ticket.TYPE + " or " + Opening.TYPE, e);
        }
        if (signer.role() == CertificateRole.CONTROLLER && Ticket.isType(type)) {
            return SignedTicket.read(envelope, signer);
        }
        if (signer.role() == CertificateRole.OPENER && type.equals(Opening.TYPE)) {
            return SignedOpening.read(envelope, signer);
        }
        throw new TicketRefusedException(
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

    CertifiedIdentity signer();

    /** What texts for people begin with. */
    String subject();

    /** Whether a slot of it may have this address: the network's first is the controlling VM's. */
    boolean allowsAddress(ProjectSubnet network, ProjectAddress address);
}
