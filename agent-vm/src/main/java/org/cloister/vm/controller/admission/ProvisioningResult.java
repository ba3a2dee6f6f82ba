package org.cloister.vm.controller.admission;

import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;

/** Result of a {@link ProvisioningRequest} for a worker. */
sealed interface ProvisioningResult {
    /** The hand-over is recorded everywhere and can be sent. */
    record HandedOver(ProvisioningRequest.Handover request, AdmittedWorker worker, HandoverDocument document)
            implements ProvisioningResult {}

    /** The readmission can be sent. */
    record Readmitted(ProvisioningRequest.Readmission request, ReadmissionGrant grant) implements ProvisioningResult {}

    /** The spent slot could not be recorded; nothing was changed. */
    record NotRecorded(ProvisioningRequest.Handover request) implements ProvisioningResult {}

    /** The worker gets nothing now; of a hand-over, the slot is spent. */
    record Failed(ProvisioningRequest.OfWorker request) implements ProvisioningResult {}
}
