package org.cloister.protocol.ticket;

import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;

/** Reads tickets, openings, withdrawals and allocations: verifies the signer, the type and the project. */
final class SignedObjectReader {
    private SignedObjectReader() {}

    static byte[] verified(String subject, DsseEnvelope envelope, String type, CertifiedIdentity signer)
            throws TicketRefusedException {
        try {
            return envelope.verify(type, List.of(signer.key()), 1);
        } catch (EnvelopeRefusedException e) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the signature of " + signer.name() + " as " + type,
                    String.valueOf(e.getMessage()),
                    "sign it with the key of the certificate that goes along");
        }
    }

    static TicketRefusedException malformed(String subject, String type, MalformedException e) {
        return new TicketRefusedException(
                TicketClause.MALFORMED,
                subject,
                type + " as this version reads it",
                String.valueOf(e.getMessage()),
                "bring both ends to one release");
    }

    static void requireRole(String subject, CertifiedIdentity signer, CertificateRole role)
            throws TicketRefusedException {
        if (signer.role() != role) {
            boolean opener = role == CertificateRole.OPENER;
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    opener ? "a certificate of an opener" : "a certificate of a controlling VM",
                    signer.name().toString(),
                    opener ? "openers alone sign openings" : "controlling VMs alone sign tickets");
        }
    }

    static void requireProject(String subject, String project, CertifiedIdentity signer) throws TicketRefusedException {
        if (!signer.name().project().equals(project)) {
            throw new TicketRefusedException(
                    TicketClause.PROJECT,
                    subject,
                    signer.name().project() + ", its signer's project",
                    project,
                    "a project asks for itself alone");
        }
    }

    static Withdrawal withdrawal(byte[] envelope, CertifiedIdentity signer, CertificateRole role)
            throws TicketRefusedException {
        requireRole("withdrawal", signer, role);
        try {
            DsseEnvelope signed = DsseEnvelope.parse(envelope, Withdrawal.MAX_BYTES);
            Withdrawal withdrawal = Withdrawal.parse(verified("withdrawal", signed, Withdrawal.TYPE, signer));
            requireProject("withdrawal of " + withdrawal.ticket(), withdrawal.project(), signer);
            return withdrawal;
        } catch (MalformedException e) {
            throw malformed("withdrawal", Withdrawal.TYPE, e);
        }
    }
}
