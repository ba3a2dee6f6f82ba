package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/**
 * A ticket that the controlling VM of its project signed.
 *
 * @param life epoch of the controlling VM whose word it is now: the ticket's own, or that of a later one that took it over
 * @param digest of the payload as it was signed
 * @param signer as its chain was verified
 */
public record SignedTicket(Ticket ticket, long life, Digest digest, Identity signer) implements SignedRequest {
    /**
     * @param envelope from anybody
     * @param controller whom the chain that came along names
     * @throws TicketRefused by {@code malformed}, {@code signature} or {@code project}
     */
    public static SignedTicket read(byte[] envelope, Identity controller) throws TicketRefused {
        SignedPaper.requireRole("ticket", controller, Role.CONTROLLER);
        try {
            Envelope signed = Envelope.parse(envelope, Ticket.MAX_BYTES);
            String type = Ticket.isType(signed.payloadType()) ? signed.payloadType() : Ticket.TYPE;
            Ticket ticket = Ticket.parse(SignedPaper.verified("ticket", signed, type, controller));
            SignedPaper.requireProject("ticket " + ticket.id(), ticket.project(), controller);
            return new SignedTicket(ticket, ticket.life(type), signed.payloadSha256(), controller);
        } catch (MalformedException e) {
            throw SignedPaper.malformed("ticket", Ticket.TYPE, e);
        }
    }

    /** The same for a withdrawal of a ticket. */
    public static Withdrawal readWithdrawal(byte[] envelope, Identity controller) throws TicketRefused {
        return SignedPaper.withdrawal(envelope, controller, Role.CONTROLLER);
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
        return life;
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
    public boolean mayHave(Network network, Address address) {
        return network.isForWorkers(address);
    }
}
