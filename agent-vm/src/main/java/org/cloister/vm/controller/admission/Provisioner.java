package org.cloister.vm.controller.admission;

import java.io.IOException;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;

/**
 * Sets up network access and storage for workers whose evidence was accepted, and issues what they are handed. Calls
 * may block.
 */
public interface Provisioner {
    /**
     * Permits the worker's address in the project's network and exports its job's part of the storage to it, and
     * nothing else; then returns everything that the worker needs.
     *
     * @param statement its evidence, accepted, with the slot spent
     * @throws IOException if something is not available; nothing is handed over
     */
    HandoverDocument provision(
            HandoverTarget target, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException;

    /** Returns whether the user of the worker's job may still have workers. */
    boolean isUserAllowed(AdmittedWorker worker);

    /**
     * Permits an admitted worker's access if it was not permitted, and certifies its key for another day.
     *
     * @param nonce nonce of the circuit on which the grant is sent
     * @param isMungeKeyDue whether the worker needs the munge key too
     * @throws IOException if something is not available now; the worker asks again
     */
    ReadmissionGrant readmit(AdmittedWorker worker, Nonce nonce, boolean isMungeKeyDue) throws IOException;

    /** Revokes the access of a ticket's workers. */
    void revokeAccess(String ticket);
}
