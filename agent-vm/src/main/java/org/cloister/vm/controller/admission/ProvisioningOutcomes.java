package org.cloister.vm.controller.admission;

import java.util.function.Consumer;
import java.util.function.Predicate;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.identity.CertificateName;

/**
 * Sends what was provided for workers on their circuits. A worker whose ticket has ended meanwhile gets nothing: the
 * end of its access was requested after its access. Used on the worker admission's thread.
 */
final class ProvisioningOutcomes {
    private final ExpectedWorkers expected;
    private final BootCircuits bootCircuits;
    private final Predicate<String> released;

    /** @param released whether the workers of a ticket are to end */
    ProvisioningOutcomes(ExpectedWorkers expected, BootCircuits bootCircuits, Predicate<String> released) {
        this.expected = expected;
        this.bootCircuits = bootCircuits;
        this.released = released;
    }

    void onResult(ProvisioningResult result) {
        if (result instanceof ProvisioningResult.HandedOver done) {
            ifExpected(done.request(), worker -> onHandedOver(worker, done));
        } else if (result instanceof ProvisioningResult.Readmitted done) {
            ifExpected(done.request(), worker -> done.request().session().sendReadmission(done.grant()));
        } else if (result instanceof ProvisioningResult.NotRecorded notRecorded) {
            ifExpected(notRecorded.request(), worker -> bootCircuits.onNotRecorded(worker, notRecorded.request()));
        } else if (result instanceof ProvisioningResult.Failed failed) {
            ifExpected(failed.request(), worker -> onFailed(worker, failed.request()));
        }
    }

    private void ifExpected(ProvisioningRequest.OfWorker request, Consumer<CertificateName> action) {
        CertificateName worker = request.session().circuit().terms().from();
        if (expected.find(worker).isPresent()) {
            action.accept(worker);
        } else {
            request.session().finishOutput();
        }
    }

    private void onHandedOver(CertificateName worker, ProvisioningResult.HandedOver done) {
        bootCircuits.onHandedOver(worker, done);
        if (released.test(done.request().expected().ticket())) {
            done.request().session().send(new VerifierMessage.Release());
        }
    }

    private void onFailed(CertificateName worker, ProvisioningRequest.OfWorker request) {
        if (request instanceof ProvisioningRequest.Handover handover) {
            bootCircuits.onHandoverFailed(worker, handover);
        } else if (request instanceof ProvisioningRequest.Readmission readmission && readmission.isMungeKeyDue()) {
            // One that needs a certificate only continues with its current one; this one reconnects.
            request.session().finishOutput();
        }
    }
}
