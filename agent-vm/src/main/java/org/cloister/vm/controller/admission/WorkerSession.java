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
import org.cloister.vm.metrics.UnauthenticatedPeerCounter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One circuit with a worker: in order and within its limits, or ended. All but the constructor on the circuit's event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class WorkerSession extends CircuitSession {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerSession.class);

    private final TlsCredential own;
    private final BiConsumer<WorkerSession, VmMessage> heard;
    private final Consumer<WorkerSession> closed;
    private final UnauthenticatedPeerCounter breaks;
    private final Duration patience;
    private final VmMessageOrder turns;
    /** The desk's own: what it was readmitted for and has not confirmed, and whether it is a node that waits for that. */
    private @Nullable Nonce offered;

    private boolean ready;
    /** Ends the circuit; until evidence was accepted. On the circuit's event loop. */
    private @Nullable ScheduledFuture<?> waiting;

    /**
     * @param own what this end has shown
     * @param heard each message that has its place in the conversation; must not block
     * @param closed once
     * @param breaks of boot circuits, of which few get a line of log
     * @param patience with one that boots, until it is given something
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

    /** Whether it was not certified yet, so that all begins with a question. */
    boolean isBooting() {
        return circuit().peerIdentity() instanceof BootIdentity;
    }

    /** From any thread. */
    void send(VerifierMessage message) {
        send(message.wire());
    }

    /** Says it and that keys and all are on their way, in one. From any thread. */
    void sendHandover(VerifierMessage message) {
        send(message.wire(), () -> {
            turns.recordHandover();
            waitsNoMore();
        });
    }

    /** Says it and that what it has is on its way anew, in one. On the desk's thread. */
    void sendReadmission(ReadmissionGrant message) {
        offered = message.target().nonce();
        send(message.wire(), turns::recordReadmission);
    }

    /** On the desk's thread. @return whether it was offered this */
    boolean matchesOffer(VmMessage.Readmitted done) {
        return done.fresh().equals(offered);
    }

    /** Its slurmd runs, and waits for a readmission. On the desk's thread. */
    void markReady() {
        ready = true;
    }

    boolean isReady() {
        return ready;
    }

    /** It is nobody's worker, and ends. From any thread. */
    void deny(ExpectedWorkers.ExpectedSlot place, List<String> clauses) {
        LOG.warn("worker {} of ticket {}: refused: {}", place.slot().slot(), place.ticket(), clauses);
        deny(clauses);
    }

    /** The same without a line of log. */
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
