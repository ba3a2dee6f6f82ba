package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
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

    private final WorkerAttestation arriving;
    private final WorkerReadmission returning;
    private final UnauthenticatedPeerCounter strangers;
    private final InstantSource clock;
    private final BiConsumer<CertificateName, Optional<WorkerSession>> listen;
    private final Consumer<WorkerEvent> news;
    private final UnauthenticatedCircuits<WorkerSession> unproven =
            new UnauthenticatedCircuits<>(talk -> talk.circuit().peerIdentity().key());

    /**
     * @param listen receives the one circuit of a slot whose messages are accepted from now on, or empty if there is
     *     none
     */
    BootCircuits(
            WorkerAttestation arriving,
            WorkerReadmission returning,
            UnauthenticatedPeerCounter strangers,
            InstantSource clock,
            BiConsumer<CertificateName, Optional<WorkerSession>> listen,
            Consumer<WorkerEvent> news) {
        this.arriving = arriving;
        this.returning = returning;
        this.strangers = strangers;
        this.clock = clock;
        this.listen = listen;
        this.news = news;
    }

    boolean has(CertificateName worker, WorkerSession talk) {
        return unproven.has(worker, talk);
    }

    void remove(CertificateName worker, WorkerSession talk) {
        unproven.remove(worker, talk);
    }

    List<WorkerSession> removeAll(CertificateName worker) {
        return unproven.removeAll(worker);
    }

    void forget(String ticket) throws IOException {
        arriving.forget(ticket);
    }

    void onCircuit(ExpectedWorkers.ExpectedSlot place, CertificateName worker, WorkerSession talk) {
        if (arriving.isSpent(place)) {
            spent(place, worker, talk);
            return;
        }
        for (WorkerSession each : unproven.add(worker, talk)) {
            each.circuit().close(CloseReason.LIMIT);
        }
        talk.send(new VerifierMessage.Question(
                arriving.nonceFor(place, talk.circuit().peerIdentity().key())));
    }

    private void spent(ExpectedWorkers.ExpectedSlot place, CertificateName worker, WorkerSession talk) {
        talk.deny(List.of(EvidenceClause.SPENT.id()));
        if (returning.checkKey(place, talk.circuit().peerIdentity()).isEmpty()) {
            // This key received the hand-over, which was lost with its circuit; the slot is lost with it.
            LOG.warn(
                    "worker {} of ticket {}: its hand-over was lost",
                    place.slot().slot(),
                    place.ticket());
            listen.accept(worker, Optional.empty());
            news.accept(WorkerEvents.lost(place));
        } else if (strangers.countEvent()) {
            LOG.warn(
                    "worker {} of ticket {}: refused: it was handed over to another key; {}",
                    place.slot().slot(),
                    place.ticket(),
                    strangers);
        }
    }

    /** Accepts evidence only. A worker that sends something else reconnects, or its host stops it. */
    void onMessage(ExpectedWorkers.ExpectedSlot place, CertificateName worker, WorkerSession on, VmMessage message)
            throws IOException {
        if (message instanceof VmMessage.Evidence shown) {
            unproven.remove(worker, on);
            shown(place, worker, on, shown);
        } else if (!(message instanceof VmMessage.UnknownMessage)) {
            unproven.remove(worker, on);
            on.finishOutput();
            if (strangers.countEvent()) {
                LOG.warn(
                        "worker {} of ticket {}: instead of its evidence it says {}; {}",
                        place.slot().slot(),
                        place.ticket(),
                        message,
                        strangers);
            }
        }
    }

    private void shown(
            ExpectedWorkers.ExpectedSlot place, CertificateName worker, WorkerSession on, VmMessage.Evidence shown)
            throws IOException {
        WorkerAttestation.Decision answer = arriving.appraise(place, on, shown, clock.instant());
        if (answer instanceof WorkerAttestation.Decision.Deny deny) {
            on.deny(deny.clauses());
            if (deny.hostVouched()) {
                news.accept(WorkerEvents.gone(
                        place, BootPhase.EVIDENCE, "denied-" + deny.clauses().get(0)));
            }
            return;
        }
        for (WorkerSession each : unproven.removeAll(worker)) {
            each.deny(List.of(EvidenceClause.SPENT.id()));
        }
        if (answer instanceof WorkerAttestation.Decision.Admit give) {
            on.sendHandover(give.handOver());
            listen.accept(worker, Optional.of(on));
        } else {
            on.finishOutput();
            news.accept(WorkerEvents.gone(place, BootPhase.KEYS, "controller"));
        }
    }
}
