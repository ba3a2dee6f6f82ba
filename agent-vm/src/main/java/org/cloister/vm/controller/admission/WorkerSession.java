package org.cloister.vm.controller.admission;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmMessageOrder;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.CircuitSession;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker's session on one circuit, which enforces the order and the limits of its messages. All methods run on the
 * circuit's event loop unless stated otherwise; the constructor may run on any thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failing channel closes, which is handled
final class WorkerSession extends CircuitSession {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerSession.class);

    private final TlsCredential own;
    private final BiConsumer<WorkerSession, VmMessage> onMessage;
    private final Consumer<WorkerSession> onClosed;
    private final UnauthenticatedPeerCounter brokenCircuits;
    private final Duration handoverLimit;
    private final VmMessageOrder messageOrder;
    /**
     * Fields of the worker admission: the readmission that the worker has not confirmed yet, and whether it is a node
     * that waits for that.
     */
    private @Nullable Nonce offeredNonce;

    private boolean ready;
    /** Closes the circuit unless evidence is accepted in time. Used on the circuit's event loop. */
    private @Nullable ScheduledFuture<?> handoverTimer;

    /**
     * @param own credential that this end has shown
     * @param onMessage receives each message that is valid in its order; must not block
     * @param onClosed called once
     * @param brokenCircuits counts broken boot circuits, of which only a few are logged
     * @param handoverLimit time for a booting worker to receive its hand-over
     */
    WorkerSession(
            Circuit circuit,
            TlsCredential own,
            BiConsumer<WorkerSession, VmMessage> onMessage,
            Consumer<WorkerSession> onClosed,
            UnauthenticatedPeerCounter brokenCircuits,
            Duration handoverLimit) {
        super(circuit);
        this.own = own;
        this.onMessage = onMessage;
        this.onClosed = onClosed;
        this.brokenCircuits = brokenCircuits;
        this.handoverLimit = handoverLimit;
        long now = System.nanoTime();
        this.messageOrder =
                isBooting() ? VmMessageOrder.forBoot(CertificateRole.WORKER, now) : VmMessageOrder.resuming(now);
    }

    TlsCredential own() {
        return own;
    }

    /** Returns whether the worker has no certificate yet, so that the session starts with an attestation nonce. */
    boolean isBooting() {
        return circuit().peerIdentity() instanceof BootIdentity;
    }

    /** Sends a message. Thread-safe. */
    void send(VerifierMessage message) {
        send(message.wire());
    }

    /** Sends the hand-over and records it in the message order, in one step. Thread-safe. */
    void sendHandover(VerifierMessage message) {
        send(message.wire(), () -> {
            messageOrder.recordHandover();
            cancelHandoverTimer();
        });
    }

    /**
     * Sends the readmission and records it in the message order, in one step. Called on the worker admission's thread.
     */
    void sendReadmission(ReadmissionGrant message) {
        offeredNonce = message.target().nonce();
        send(message.wire(), messageOrder::recordReadmission);
    }

    /**
     * Compares a confirmation with the readmission that was sent. Called on the worker admission's thread.
     *
     * @return whether the worker confirms the readmission that it was sent
     */
    boolean matchesOffer(VmMessage.Readmitted readmitted) {
        return readmitted.fresh().equals(offeredNonce);
    }

    /** Records that the worker's slurmd runs and waits for a readmission. Called on the worker admission's thread. */
    void markReady() {
        ready = true;
    }

    boolean isReady() {
        return ready;
    }

    /** Notifies the worker that it is refused and must end, and logs it. Thread-safe. */
    void deny(ExpectedWorkers.ExpectedSlot expected, List<String> clauses) {
        LOG.warn("worker {} of ticket {}: refused: {}", expected.slot().slot(), expected.ticket(), clauses);
        deny(clauses);
    }

    /** Does the same without logging. */
    void deny(List<String> clauses) {
        send(new VerifierMessage.Denied(clauses, "see the project's log"));
        finishOutput();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (isBooting()) {
            handoverTimer = ctx.executor()
                    .schedule(
                            () -> circuit().close(CloseReason.NO_ANSWER),
                            handoverLimit.toMillis(),
                            TimeUnit.MILLISECONDS);
        }
    }

    private void cancelHandoverTimer() {
        if (handoverTimer != null) {
            handoverTimer.cancel(false);
            handoverTimer = null;
        }
    }

    @Override
    protected boolean isBreakLogged() {
        return handoverTimer == null || brokenCircuits.countEvent();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VmMessage received = (VmMessage) message;
        messageOrder.accept(received, System.nanoTime());
        onMessage.accept(this, received);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        cancelHandoverTimer();
        onClosed.accept(this);
    }
}
