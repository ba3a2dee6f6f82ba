package org.cloister.vm.controller.admission;

import com.google.protobuf.ByteString;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.VmMessage;

/** Work for a worker or a ticket that may block, such as records on the drive and access to the network. */
sealed interface ProvisioningRequest {
    /** Work for one worker, whose answer goes to a circuit. */
    sealed interface OfWorker extends ProvisioningRequest {
        WorkerSession session();
    }

    /**
     * A hand-over. The evidence was accepted, and no other worker gets the slot.
     *
     * @param evidence envelope of the statement
     */
    record Handover(
            ExpectedWorkers.ExpectedSlot expected,
            WorkerSession session,
            ByteString evidence,
            EvidenceStatement statement,
            HandoverTarget target,
            HandoverLedger.SpentSlot spent)
            implements OfWorker {}

    /** A readmission of a worker that was admitted. */
    record Readmission(WorkerSession session, VmMessage.Resume resume, AdmittedWorker worker, boolean isMungeKeyDue)
            implements OfWorker {}

    /** The end of a ticket: its workers lose their access, and their records are deleted. */
    record End(String ticket) implements ProvisioningRequest {}
}
