package org.cloister.protocol.ticket;

import java.util.List;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/**
 * A ticket that the controlling VM of its project signed.
 *
 * @param digest of the payload as it was signed
 * @param signer as its chain was verified
 */
public record SignedTicket(Ticket ticket, Digest digest, Identity signer) {
    /**
     * @param envelope from anybody
     * @param controller whom the chain that came along names
     * @throws TicketRefused by {@code malformed}, {@code signature} or {@code project}
     */
    public static SignedTicket read(byte[] envelope, Identity controller) throws TicketRefused {
        requireController("ticket", controller);
        try {
            Envelope signed = Envelope.parse(envelope, Ticket.MAX_BYTES);
            Ticket ticket = Ticket.parse(verified("ticket", signed, Ticket.TYPE, controller));
            requireProject("ticket " + ticket.id(), ticket.project(), controller);
            return new SignedTicket(ticket, signed.payloadSha256(), controller);
        } catch (MalformedException e) {
            throw malformed("ticket", Ticket.TYPE, e);
        }
    }

    /** The same for a withdrawal. */
    public static Withdrawal readWithdrawal(byte[] envelope, Identity controller) throws TicketRefused {
        requireController("withdrawal", controller);
        try {
            Envelope signed = Envelope.parse(envelope, Withdrawal.MAX_BYTES);
            Withdrawal withdrawal = Withdrawal.parse(verified("withdrawal", signed, Withdrawal.TYPE, controller));
            requireProject("withdrawal of " + withdrawal.ticket(), withdrawal.project(), controller);
            return withdrawal;
        } catch (MalformedException e) {
            throw malformed("withdrawal", Withdrawal.TYPE, e);
        }
    }

    static byte[] verified(String subject, Envelope envelope, String type, Identity signer) throws TicketRefused {
        try {
            return envelope.verify(type, List.of(signer.key()), 1);
        } catch (EnvelopeRefused e) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    "the signature of " + signer.name() + " as " + type,
                    String.valueOf(e.getMessage()),
                    "sign it with the key of the certificate that goes along");
        }
    }

    static TicketRefused malformed(String subject, String type, MalformedException e) {
        return new TicketRefused(
                TicketClause.MALFORMED,
                subject,
                type + " as this version reads it",
                String.valueOf(e.getMessage()),
                "bring both ends to one release");
    }

    private static void requireController(String subject, Identity signer) throws TicketRefused {
        if (signer.role() != Role.CONTROLLER) {
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    "a certificate of a controlling VM",
                    signer.name().toString(),
                    "controlling VMs alone sign tickets");
        }
    }

    private static void requireProject(String subject, String project, Identity signer) throws TicketRefused {
        if (!signer.name().project().equals(project)) {
            throw new TicketRefused(
                    TicketClause.PROJECT,
                    subject,
                    signer.name().project() + ", its signer's project",
                    project,
                    "a project asks for itself alone");
        }
    }
}
