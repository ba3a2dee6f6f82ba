package org.cloister.vm.handover;

import io.netty.channel.ChannelHandlerContext;
import java.util.List;
import java.util.function.BiConsumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmTurns;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.vm.boot.CircuitTalk;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One circuit with a worker: in order and within its limits, or ended. All but the constructor on the circuit's event loop. */
final class WorkerTalk extends CircuitTalk {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerTalk.class);

    private final Credential own;
    private final BiConsumer<WorkerTalk, VmMessage> heard;
    private final Runnable closed;
    private final VmTurns turns;
    /** The desk's own: what it was readmitted for and has not confirmed, and whether it is a node that waits for that. */
    private @Nullable Nonce offered;

    private boolean ready;

    /**
     * @param own what this end has shown
     * @param heard each message that has its place in the conversation; must not block
     * @param closed once
     */
    WorkerTalk(Circuit circuit, Credential own, BiConsumer<WorkerTalk, VmMessage> heard, Runnable closed) {
        super(circuit);
        this.own = own;
        this.heard = heard;
        this.closed = closed;
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
        say(message.wire(), turns::given);
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
        say(new VerifierMessage.Denied(clauses, "see the project's log"));
        end();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VmMessage read = (VmMessage) message;
        turns.heard(read, System.nanoTime());
        heard.accept(this, read);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed.run();
    }
}
