package org.cloister.protocol.ticket;

import java.time.Instant;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/**
 * Opening signed by an opener of its project.
 *
 * @param digest of the payload as it was signed
 * @param signer as its chain was verified
 */
public record SignedOpening(Opening opening, Digest digest, CertifiedIdentity signer) implements SignedRequest {
    /**
     * Verifies and parses an opening.
     *
     * @param envelope may come from anyone
     * @param opener identity that the chain sent with it proves
     * @throws TicketRefusedException by {@code malformed}, {@code signature} or {@code project}
     */
    public static SignedOpening read(byte[] envelope, CertifiedIdentity opener) throws TicketRefusedException {
        SignedObjectReader.requireRole("opening", opener, CertificateRole.OPENER);
        try {
            DsseEnvelope signed = DsseEnvelope.parse(envelope, Opening.MAX_BYTES);
            Opening opening = Opening.parse(SignedObjectReader.verified("opening", signed, Opening.TYPE, opener));
            SignedObjectReader.requireProject("opening " + opening.id(), opening.project(), opener);
            return new SignedOpening(opening, signed.payloadSha256(), opener);
        } catch (MalformedException e) {
            throw SignedObjectReader.malformed("opening", Opening.TYPE, e);
        }
    }

    /** Reads a withdrawal of an opening; parameters and errors are those of {@link #read}. */
    public static Withdrawal readWithdrawal(byte[] envelope, CertifiedIdentity opener) throws TicketRefusedException {
        return SignedObjectReader.withdrawal(envelope, opener, CertificateRole.OPENER);
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
    public boolean allowsAddress(ProjectSubnet network, ProjectAddress address) {
        return address.equals(network.controller());
    }
}
