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
    private final BiConsumer<WorkerSession, VmMessage> heard;
    private final Consumer<WorkerSession> closed;
    private final UnauthenticatedPeerCounter breaks;
    private final Duration patience;
    private final VmMessageOrder turns;
    /**
     * Fields of the worker admission: the readmission that the worker has not confirmed yet, and whether it is a node
     * that waits for that.
     */
    private @Nullable Nonce offered;

    private boolean ready;
    /** Closes the circuit unless evidence is accepted in time. Used on the circuit's event loop. */
    private @Nullable ScheduledFuture<?> waiting;

    /**
     * @param own credential that this end has shown
     * @param heard receives each message that is valid in its order; must not block
     * @param closed called once
     * @param breaks counts broken boot circuits, of which only a few are logged
     * @param patience time for a booting worker to receive its hand-over
     */
    WorkerSession(
            Circuit circuit,
            TlsCredential own,
            BiConsumer<WorkerSession, VmMessage> heard,
            Consumer<WorkerSession> closed,
            UnauthenticatedPeerCounter breaks,
            Duration patience) {
        super(circuit);
        this.own = own;
        this.heard = heard;
        this.closed = closed;
        this.breaks = breaks;
        this.patience = patience;
        long now = System.nanoTime();
        this.turns = isBooting() ? VmMessageOrder.forBoot(CertificateRole.WORKER, now) : VmMessageOrder.resuming(now);
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
            turns.recordHandover();
            waitsNoMore();
        });
    }

    /**
     * Sends the readmission and records it in the message order, in one step. Called on the worker admission's thread.
     */
    void sendReadmission(ReadmissionGrant message) {
        offered = message.target().nonce();
        send(message.wire(), turns::recordReadmission);
    }

    /**
     * Compares a confirmation with the readmission that was sent. Called on the worker admission's thread.
     *
     * @return whether the worker confirms the readmission that it was sent
     */
    boolean matchesOffer(VmMessage.Readmitted done) {
        return done.fresh().equals(offered);
    }

    /** Records that the worker's slurmd runs and waits for a readmission. Called on the worker admission's thread. */
    void markReady() {
        ready = true;
    }

    boolean isReady() {
        return ready;
    }

    /** Notifies the worker that it is refused and must end, and logs it. Thread-safe. */
    void deny(ExpectedWorkers.ExpectedSlot place, List<String> clauses) {
        LOG.warn("worker {} of ticket {}: refused: {}", place.slot().slot(), place.ticket(), clauses);
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
            waiting = ctx.executor()
                    .schedule(() -> circuit().close(CloseReason.NO_ANSWER), patience.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void waitsNoMore() {
        if (waiting != null) {
            waiting.cancel(false);
            waiting = null;
        }
    }

    @Override
    protected boolean isBreakLogged() {
        return waiting == null || breaks.countEvent();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VmMessage read = (VmMessage) message;
        turns.accept(read, System.nanoTime());
        heard.accept(this, read);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        waitsNoMore();
        closed.accept(this);
    }
}
