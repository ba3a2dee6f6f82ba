package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.cloister.protocol.handover.HandoverDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out batches of {@link ProvisioningRequest}. The slots of a batch are recorded as spent before anything else,
 * access is granted to all of its workers together, and each worker stands in the drive's records before the result
 * says so. Each method blocks. Not thread-safe.
 */
final class ProvisioningBatch {
    private static final Logger LOG = LoggerFactory.getLogger(ProvisioningBatch.class);

    private final WorkerAdmission.Stores stores;
    private final Provisioner provisioner;
    private final HandoverRecorder recorder;
    private final Consumer<List<ProvisioningResult>> results;

    /** A worker with all that it is sent, if it gets access. */
    private record Prepared(ProvisioningRequest.OfWorker request, AdmittedWorker worker, ProvisioningResult result) {}

    /** @param results receives those of a batch together */
    ProvisioningBatch(
            WorkerAdmission.Stores stores,
            Provisioner provisioner,
            HandoverRecorder recorder,
            Consumer<List<ProvisioningResult>> results) {
        this.stores = stores;
        this.provisioner = provisioner;
        this.recorder = recorder;
        this.results = results;
    }

    /** Carries out requests in their order, workers between two ends of tickets together. */
    void carryOut(List<ProvisioningRequest> requests) {
        List<ProvisioningRequest.OfWorker> workers = new ArrayList<>();
        for (ProvisioningRequest request : requests) {
            if (request instanceof ProvisioningRequest.End end) {
                admit(workers);
                workers.clear();
                end(end.ticket());
            } else if (request instanceof ProvisioningRequest.OfWorker worker) {
                workers.add(worker);
            }
        }
        admit(workers);
    }

    private void admit(List<ProvisioningRequest.OfWorker> requests) {
        if (requests.isEmpty()) {
            return;
        }
        List<ProvisioningResult> finished = new ArrayList<>();
        List<Prepared> prepared = new ArrayList<>();
        for (ProvisioningRequest.OfWorker request : recordSpent(requests, finished)) {
            try {
                prepared.add(prepare(request));
            } catch (IOException | RuntimeException e) {
                finished.add(failed(request, e));
            }
        }
        for (Prepared each : grantAccess(prepared, finished)) {
            try {
                record(each);
                finished.add(each.result());
            } catch (IOException | RuntimeException e) {
                finished.add(failed(each.request(), e));
            }
        }
        results.accept(finished);
    }

    /** Returns the requests without those whose slot could not be recorded. */
    private List<ProvisioningRequest.OfWorker> recordSpent(
            List<ProvisioningRequest.OfWorker> requests, List<ProvisioningResult> finished) {
        List<ProvisioningRequest.OfWorker> remaining = new ArrayList<>(requests);
        Map<String, List<ProvisioningRequest.Handover>> handovers = new LinkedHashMap<>();
        for (ProvisioningRequest.OfWorker request : requests) {
            if (request instanceof ProvisioningRequest.Handover handover) {
                handovers
                        .computeIfAbsent(handover.spent().ticket(), ticket -> new ArrayList<>())
                        .add(handover);
            }
        }
        handovers.forEach((ticket, ofTicket) -> {
            try {
                stores.handovers()
                        .write(ofTicket.stream()
                                .map(ProvisioningRequest.Handover::spent)
                                .toList());
            } catch (IOException | RuntimeException e) {
                LOG.error("ticket {}: the slots of its workers cannot be recorded: {}", ticket, e.toString());
                remaining.removeAll(ofTicket);
                ofTicket.forEach(handover -> finished.add(new ProvisioningResult.NotRecorded(handover)));
            }
        });
        return remaining;
    }

    private Prepared prepare(ProvisioningRequest.OfWorker request) throws IOException {
        if (request instanceof ProvisioningRequest.Handover handover) {
            HandoverDocument document = provisioner.createHandover(
                    handover.target(),
                    handover.expected().allocation(),
                    handover.expected().slot(),
                    handover.statement());
            AdmittedWorker worker =
                    AdmittedWorker.of(document, handover.expected().slot(), handover.statement());
            return new Prepared(request, worker, new ProvisioningResult.HandedOver(handover, worker, document));
        }
        ProvisioningRequest.Readmission readmission = (ProvisioningRequest.Readmission) request;
        return new Prepared(
                request,
                readmission.worker(),
                new ProvisioningResult.Readmitted(
                        readmission,
                        provisioner.createReadmission(
                                readmission.worker(), readmission.resume().fresh(), readmission.isMungeKeyDue())));
    }

    /** Returns the workers that have access. If it fails for several together, one of them may be the reason. */
    private List<Prepared> grantAccess(List<Prepared> prepared, List<ProvisioningResult> finished) {
        try {
            provisioner.grantAccess(prepared.stream().map(Prepared::worker).toList());
            return prepared;
        } catch (IOException | RuntimeException e) {
            if (prepared.size() <= 1) {
                prepared.forEach(each -> finished.add(failed(each.request(), e)));
                return List.of();
            }
            LOG.warn("{} workers: no access together: {}; trying one by one", prepared.size(), e.toString());
        }
        return prepared.stream()
                .flatMap(each -> grantAccess(List.of(each), finished).stream())
                .toList();
    }

    private void record(Prepared worker) throws IOException {
        if (worker.result() instanceof ProvisioningResult.HandedOver done) {
            stores.admitted().write(done.worker());
            recorder.recordHandover(done.request().target(), done.request().evidence(), done.document());
        }
    }

    private static ProvisioningResult failed(ProvisioningRequest.OfWorker request, Exception cause) {
        LOG.error(
                "worker {}: {}: {}",
                request.session().circuit().terms().from(),
                request instanceof ProvisioningRequest.Handover ? "the hand-over failed" : "cannot be readmitted yet",
                cause.toString());
        return new ProvisioningResult.Failed(request);
    }

    private void end(String ticket) {
        provisioner.revokeAccess(ticket);
        try {
            stores.admitted().delete(ticket);
            stores.handovers().delete(ticket);
        } catch (IOException e) {
            // The ticket's workers are no longer expected, so no slot of it can be spent; the remaining file is
            // harmless.
            LOG.warn("ticket {}: the records of its hand-overs cannot be deleted: {}", ticket, e.toString());
        }
    }
}
