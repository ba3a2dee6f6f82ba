package org.cloister.protocol.ticket;

import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;

/** What reading tickets, openings, withdrawals and allocations has in common: who signed, as what, for which project. */
final class SignedPaper {
    private SignedPaper() {}

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

    static void requireRole(String subject, Identity signer, Role role) throws TicketRefused {
        if (signer.role() != role) {
            boolean opener = role == Role.OPENER;
            throw new TicketRefused(
                    TicketClause.SIGNATURE,
                    subject,
                    opener ? "a certificate of an opener" : "a certificate of a controlling VM",
                    signer.name().toString(),
                    opener ? "openers alone sign openings" : "controlling VMs alone sign tickets");
        }
    }

    static void requireProject(String subject, String project, Identity signer) throws TicketRefused {
        if (!signer.name().project().equals(project)) {
            throw new TicketRefused(
                    TicketClause.PROJECT,
                    subject,
                    signer.name().project() + ", its signer's project",
                    project,
                    "a project asks for itself alone");
        }
    }

    static Withdrawal withdrawal(byte[] envelope, Identity signer, Role role) throws TicketRefused {
        requireRole("withdrawal", signer, role);
        try {
            Envelope signed = Envelope.parse(envelope, Withdrawal.MAX_BYTES);
            Withdrawal withdrawal = Withdrawal.parse(verified("withdrawal", signed, Withdrawal.TYPE, signer));
            requireProject("withdrawal of " + withdrawal.ticket(), withdrawal.project(), signer);
            return withdrawal;
        } catch (MalformedException e) {
            throw malformed("withdrawal", Withdrawal.TYPE, e);
        }
    }
}
