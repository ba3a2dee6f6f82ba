package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/**
 * Ticket signed by the controlling VM of its project.
 *
 * @param controllerEpoch epoch of the controlling VM that signed it last: the ticket's own, or that of a later one that
 *     took it over
 * @param digest of the payload as it was signed
 * @param signer as its chain was verified
 */
public record SignedTicket(Ticket ticket, long controllerEpoch, Digest digest, CertifiedIdentity signer)
        implements SignedRequest {
    /**
     * Verifies and parses a ticket.
     *
     * @param envelope may come from anyone
     * @param controller identity that the chain sent with it proves
     * @throws TicketRefusedException by {@code malformed}, {@code signature} or {@code project}
     */
    public static SignedTicket read(byte[] envelope, CertifiedIdentity controller) throws TicketRefusedException {
        SignedObjectReader.requireRole("ticket", controller, CertificateRole.CONTROLLER);
        try {
            DsseEnvelope signed = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES);
            String type = Ticket.isType(signed.payloadType()) ? signed.payloadType() : Ticket.TYPE;
            Ticket ticket = Ticket.parse(SignedObjectReader.verified("ticket", signed, type, controller));
            SignedObjectReader.requireProject("ticket " + ticket.id(), ticket.project(), controller);
            return new SignedTicket(ticket, ticket.controllerEpoch(type), signed.payloadSha256(), controller);
        } catch (MalformedException e) {
            throw SignedObjectReader.malformed("ticket", Ticket.TYPE, e);
        }
    }

    /** Reads a withdrawal of a ticket; parameters and errors are those of {@link #read}. */
    public static Withdrawal readWithdrawal(byte[] envelope, CertifiedIdentity controller)
            throws TicketRefusedException {
        return SignedObjectReader.withdrawal(envelope, controller, CertificateRole.CONTROLLER);
    }

    @Override
    public String id() {
        return ticket.id();
    }

    @Override
    public String project() {
        return ticket.project();
    }

    @Override
    public long epoch() {
        return controllerEpoch;
    }

    @Override
    public Instant issued() {
        return ticket.issued();
    }

    @Override
    public Instant expires() {
        return ticket.expires();
    }

    @Override
    public ResourceRequest request() {
        return ticket.request();
    }

    @Override
    public String subject() {
        return "ticket " + id();
    }

    @Override
    public boolean allowsAddress(ProjectSubnet network, ProjectAddress address) {
        return network.isForWorkers(address);
    }
}
