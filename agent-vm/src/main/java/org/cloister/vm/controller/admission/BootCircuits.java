package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.PeerIdentity;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives circuits that show a boot certificate, from the attestation nonce to the hand-over. The peer is
 * unauthenticated until it sends a statement that the slot's host signed for its key: its earlier messages change
 * nothing. If the slot was already handed over, such a circuit is denied with {@code spent}. Not thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failing channel closes, which is handled
final class BootCircuits {
    private static final Logger LOG = LoggerFactory.getLogger(BootCircuits.class);

    private final WorkerAttestation attestation;
    private final WorkerReadmission readmission;
    private final UnauthenticatedPeerCounter unauthenticatedPeers;
    private final InstantSource clock;
    private final Consumer<ProvisioningRequest> requests;
    /** Keys of workers whose hand-over is being prepared. */
    private final Map<CertificateName, VerificationKey> preparing = new HashMap<>();

    private final BiConsumer<CertificateName, Optional<WorkerSession>> accepted;
    private final Consumer<WorkerEvent> events;
    private final UnauthenticatedCircuits<WorkerSession> circuits = new UnauthenticatedCircuits<>(
            session -> session.circuit().peerIdentity().key());

    /**
     * @param requests receives the hand-over of each worker whose evidence was accepted
     * @param accepted receives the one circuit of a slot whose messages are accepted from now on, or empty if there is
     *     none
     */
    BootCircuits(
            WorkerAttestation attestation,
            WorkerReadmission readmission,
            UnauthenticatedPeerCounter unauthenticatedPeers,
            InstantSource clock,
            Consumer<ProvisioningRequest> requests,
            BiConsumer<CertificateName, Optional<WorkerSession>> accepted,
            Consumer<WorkerEvent> events) {
        this.attestation = attestation;
        this.readmission = readmission;
        this.unauthenticatedPeers = unauthenticatedPeers;
        this.clock = clock;
        this.requests = requests;
        this.accepted = accepted;
        this.events = events;
    }

    boolean has(CertificateName worker, WorkerSession session) {
        return circuits.has(worker, session);
    }

    void remove(CertificateName worker, WorkerSession session) {
        circuits.remove(worker, session);
    }

    List<WorkerSession> removeAll(CertificateName worker) {
        preparing.remove(worker);
        return circuits.removeAll(worker);
    }

    void forget(String ticket) {
        attestation.forget(ticket);
    }

    void onCircuit(ExpectedWorkers.ExpectedSlot expected, CertificateName worker, WorkerSession session) {
        if (attestation.isSpent(expected)) {
            denySpent(expected, worker, session);
            return;
        }
        for (WorkerSession other : circuits.add(worker, session)) {
            other.circuit().close(CloseReason.LIMIT);
        }
        session.send(new VerifierMessage.Question(
                attestation.nonceFor(expected, session.circuit().peerIdentity().key())));
    }

    private void denySpent(ExpectedWorkers.ExpectedSlot expected, CertificateName worker, WorkerSession session) {
        session.deny(List.of(EvidenceClause.SPENT.id()));
        PeerIdentity peer = session.circuit().peerIdentity();
        if (readmission.checkKey(expected, peer).isEmpty()
                || Optional.ofNullable(preparing.get(worker))
                        .filter(peer.key()::equals)
                        .isPresent()) {
            // This key received the hand-over, which was lost with its circuit; the slot is lost with it.
            LOG.warn(
                    "worker {} of ticket {}: its hand-over was lost with its circuit; the slot has no worker",
                    expected.slot().slot(),
                    expected.ticket());
            accepted.accept(worker, Optional.empty());
            events.accept(WorkerEvents.lost(expected));
        } else if (unauthenticatedPeers.countEvent()) {
            LOG.warn(
                    "worker {} of ticket {}: refused: the slot was handed over to another key; {}",
                    expected.slot().slot(),
                    expected.ticket(),
                    unauthenticatedPeers);
        }
    }

    /** Accepts evidence only. A worker that sends something else reconnects, or its host stops it. */
    void onMessage(
            ExpectedWorkers.ExpectedSlot expected, CertificateName worker, WorkerSession session, VmMessage message)
            throws IOException {
        if (message instanceof VmMessage.Evidence evidence) {
            circuits.remove(worker, session);
            appraise(expected, worker, session, evidence);
        } else if (!(message instanceof VmMessage.UnknownMessage)) {
            circuits.remove(worker, session);
            session.finishOutput();
            if (unauthenticatedPeers.countEvent()) {
                LOG.warn(
                        "worker {} of ticket {}: refused: it sent {} instead of evidence; {}",
                        expected.slot().slot(),
                        expected.ticket(),
                        message,
                        unauthenticatedPeers);
            }
        }
    }

    private void appraise(
            ExpectedWorkers.ExpectedSlot expected,
            CertificateName worker,
            WorkerSession session,
            VmMessage.Evidence evidence)
            throws IOException {
        WorkerAttestation.Decision decision = attestation.appraise(expected, session, evidence, clock.instant());
        if (decision instanceof WorkerAttestation.Decision.Deny deny) {
            session.deny(deny.clauses());
            if (deny.hostVouched()) {
                events.accept(WorkerEvents.gone(
                        expected, BootPhase.EVIDENCE, "denied-" + deny.clauses().get(0)));
            }
            return;
        }
        for (WorkerSession other : circuits.removeAll(worker)) {
            other.deny(List.of(EvidenceClause.SPENT.id()));
        }
        preparing.put(worker, session.circuit().peerIdentity().key());
        requests.accept(((WorkerAttestation.Decision.Accept) decision).request());
    }

    /** Sends a hand-over. If its circuit has broken meanwhile, it is lost; the worker shows so by its next circuit. */
    void onHandedOver(CertificateName worker, ProvisioningResult.HandedOver done) {
        WorkerSession session = done.request().session();
        preparing.remove(worker);
        readmission.recordHandover(worker, done.worker());
        if (session.circuit().channel().isActive()) {
            session.sendHandover(done.document());
            accepted.accept(worker, Optional.of(session));
        }
    }

    void onHandoverFailed(CertificateName worker, ProvisioningRequest.Handover request) {
        preparing.remove(worker);
        request.session().finishOutput();
        events.accept(WorkerEvents.gone(request.expected(), BootPhase.KEYS, "controller"));
    }

    /** Ends the circuit of a worker, which opens another one and shows its evidence again. */
    void onNotRecorded(CertificateName worker, ProvisioningRequest.Handover request) {
        preparing.remove(worker);
        attestation.restore(request);
        request.session().finishOutput();
    }
}
