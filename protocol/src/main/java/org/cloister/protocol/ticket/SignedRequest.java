package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/**
 * Request for nodes, signed by an authorised signer: by a controlling VM for workers, by an opener for the controlling
 * VM.
 */
public sealed interface SignedRequest permits SignedTicket, SignedOpening {
    /**
     * Reads a ticket or an opening; the envelope's type decides which, and which role must have signed it.
     *
     * @param envelope may come from anyone
     * @param signer identity that the chain sent with it proves
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

    /**
     * Returns the epoch of the opening, or of the controlling VM that signed the ticket last: a later one may have
     * taken the ticket over.
     */
    long epoch();

    Instant issued();

    Instant expires();

    ResourceRequest request();

    /** Returns the digest of the payload as it was signed. */
    Digest digest();

    CertifiedIdentity signer();

    /** Returns the beginning of texts for people. */
    String subject();

    /** Returns whether a slot may have this address: the network's first is the controlling VM's. */
    boolean allowsAddress(ProjectSubnet network, ProjectAddress address);
}
