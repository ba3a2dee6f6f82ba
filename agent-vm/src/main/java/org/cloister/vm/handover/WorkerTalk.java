package org.cloister.vm.handover;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmTurns;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.vm.Strangers;
import org.cloister.vm.boot.CircuitTalk;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One circuit with a worker: in order and within its limits, or ended. All but the constructor on the circuit's event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class WorkerTalk extends CircuitTalk {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerTalk.class);

    private final Credential own;
    private final BiConsumer<WorkerTalk, VmMessage> heard;
    private final Consumer<WorkerTalk> closed;
    private final Strangers breaks;
    private final Duration patience;
    private final VmTurns turns;
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
    WorkerTalk(
            Circuit circuit,
            Credential own,
            BiConsumer<WorkerTalk, VmMessage> heard,
            Consumer<WorkerTalk> closed,
            Strangers breaks,
            Duration patience) {
        super(circuit);
        this.own = own;
        this.heard = heard;
        this.closed = closed;
        this.breaks = breaks;
        this.patience = patience;
        long now = System.nanoTime();
        this.turns = boots() ? VmTurns.asked(Role.WORKER, now) : VmTurns.resuming(now);
    }

    Credential own() {
        return own;
    }

    /** Whether it was not certified yet, so that all begins with a question. */
    boolean boots() {
        return circuit().shown() instanceof BootIdentity;
    }

    /** From any thread. */
    void say(VerifierMessage message) {
        say(message.wire());
    }

    /** Says it and that keys and all are on their way, in one. From any thread. */
    void give(VerifierMessage message) {
        say(message.wire(), () -> {
            turns.given();
            waitsNoMore();
        });
    }

    /** Says it and that what it has is on its way anew, in one. On the desk's thread. */
    void readmit(Readmission message) {
        offered = message.place().nonce();
        say(message.wire(), turns::readmitting);
    }

    /** On the desk's thread. @return whether it was offered this */
    boolean confirms(VmMessage.Readmitted done) {
        return done.fresh().equals(offered);
    }

    /** Its slurmd runs, and waits for a readmission. On the desk's thread. */
    void readied() {
        ready = true;
    }

    boolean isReady() {
        return ready;
    }

    /** It is nobody's worker, and ends. From any thread. */
    void deny(Expected.Place place, List<String> clauses) {
        LOG.warn("worker {} of ticket {}: refused: {}", place.slot().slot(), place.ticket(), clauses);
        deny(clauses);
    }

    /** The same without a line of log. */
    void deny(List<String> clauses) {
        say(new VerifierMessage.Denied(clauses, "see the project's log"));
        end();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (boots()) {
            waiting = ctx.executor()
                    .schedule(() -> circuit().end(CloseReason.NO_ANSWER), patience.toMillis(), TimeUnit.MILLISECONDS);
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
        return waiting == null || breaks.another();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VmMessage read = (VmMessage) message;
        turns.heard(read, System.nanoTime());
        heard.accept(this, read);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        waitsNoMore();
        closed.accept(this);
    }
}
