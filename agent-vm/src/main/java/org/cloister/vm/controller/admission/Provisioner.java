package org.cloister.vm.controller.admission;

import java.io.IOException;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;

/** Makes room for workers whose evidence holds, and what they are given. Calls may block. */
public interface Provisioner {
    /**
     * Lets the worker's address in, and to its job's part of the storage, and to nothing else; then all that it needs.
     *
     * @param statement its evidence, accepted and spent
     * @throws IOException if it cannot be had; nothing is handed over
     */
    HandoverDocument provision(
            HandoverTarget place, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException;

    /** Whether its job's user still is one who may have workers. */
    boolean isUserAllowed(AdmittedWorker guest);

    /**
     * Lets a worker that was handed over to in again, if it was not in, and certifies its key for another day.
     *
     * @param fresh of the circuit on which it goes out
     * @param key whether it needs the munge key too
     * @throws IOException if it cannot be had now; the worker asks again
     */
    ReadmissionGrant readmit(AdmittedWorker guest, Nonce fresh, boolean key) throws IOException;

    /** Its workers' addresses have no business here any more. */
    void revokeAccess(String ticket);
}
