package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.util.List;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;

/**
 * Sets up network access and storage for workers whose evidence was accepted, and issues what they are handed. Calls
 * may block, except for {@link #isUserAllowed}, and are made by one thread.
 */
public interface Provisioner {
    /**
     * Issues everything that a worker needs. It has no access yet.
     *
     * @param statement its evidence, accepted, with the slot spent
     * @throws IOException if something is not available; nothing is handed over
     */
    HandoverDocument createHandover(
            HandoverTarget target, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException;

    /** Returns whether the user of the worker's job may still have workers. Thread-safe. */
    boolean isUserAllowed(AdmittedWorker worker);

    /**
     * Certifies an admitted worker's key for another day.
     *
     * @param nonce nonce of the circuit on which the grant is sent
     * @param isMungeKeyDue whether the worker needs the munge key too
     * @throws IOException if something is not available now; the worker asks again
     */
    ReadmissionGrant createReadmission(AdmittedWorker worker, Nonce nonce, boolean isMungeKeyDue) throws IOException;

    /**
     * Permits each worker's address in the project's network and exports its job's part of the storage to it, and
     * nothing else. A repeated call changes nothing.
     *
     * @throws IOException if it cannot be done for all of them; then it was done for none
     */
    void grantAccess(List<AdmittedWorker> workers) throws IOException;

    /** Revokes the access of a ticket's workers. */
    void revokeAccess(String ticket);
}
