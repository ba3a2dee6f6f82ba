package org.cloister.protocol.handover;

import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;

/** Name of a slot's worker, in certificates and in the Local Slurm; it follows from ticket and slot. */
public final class WorkerName {
    private static final int TICKET_LETTERS = 16;

    private WorkerName() {}

    /**
     * Returns one label of a DNS name. Tickets whose ids have the same beginning share it; a host runs one of them at a
     * time.
     */
    public static String label(String ticket, int slot) {
        return ticket.substring(0, TICKET_LETTERS) + "-" + slot;
    }

    public static CertificateName of(String ticket, int slot, String project) {
        return new CertificateName(label(ticket, slot), CertificateRole.WORKER.toString(), project);
    }
}
