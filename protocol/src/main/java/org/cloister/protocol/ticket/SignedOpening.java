package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/**
 * An opening that an opener of its project signed.
 *
 * @param digest of the payload as it was signed
 * @param signer as its chain was verified
 */
public record SignedOpening(Opening opening, Digest digest, Identity signer) implements SignedRequest {
    /**
     * @param envelope from anybody
     * @param opener whom the chain that came along names
     * @throws TicketRefused by {@code malformed}, {@code signature} or {@code project}
     */
    public static SignedOpening read(byte[] envelope, Identity opener) throws TicketRefused {
        SignedPaper.requireRole("opening", opener, Role.OPENER);
        try {
            Envelope signed = Envelope.parse(envelope, Opening.MAX_BYTES);
            Opening opening = Opening.parse(SignedPaper.verified("opening", signed, Opening.TYPE, opener));
            SignedPaper.requireProject("opening " + opening.id(), opening.project(), opener);
            return new SignedOpening(opening, signed.payloadSha256(), opener);
        } catch (MalformedException e) {
            throw SignedPaper.malformed("opening", Opening.TYPE, e);
        }
    }

    /** The same for a withdrawal of an opening. */
    public static Withdrawal readWithdrawal(byte[] envelope, Identity opener) throws TicketRefused {
        return SignedPaper.withdrawal(envelope, opener, Role.OPENER);
    }

    @Override
    public String id() {
        return opening.id();
    }

    @Override
    public String project() {
        return opening.project();
    }

    @Override
    public long epoch() {
        return opening.epoch();
    }

    @Override
    public Instant issued() {
        return opening.issued();
    }

    @Override
    public Instant expires() {
        return opening.expires();
    }

    @Override
    public ResourceRequest request() {
        return opening.request();
    }

    @Override
    public String subject() {
        return "opening " + id();
    }

    @Override
    public boolean mayHave(Network network, Address address) {
        return address.equals(network.controller());
    }
}
