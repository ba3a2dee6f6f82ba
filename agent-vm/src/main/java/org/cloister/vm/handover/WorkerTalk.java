package org.cloister.vm.handover;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.function.BiConsumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmTurns;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One circuit with a worker: in order and within its limits, or ended. All but the constructor on the circuit's event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class WorkerTalk extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerTalk.class);

    private final Circuit circuit;
    private final BiConsumer<WorkerTalk, VmMessage> heard;
    private final Runnable closed;
    private @Nullable VmTurns turns;

    /**
     * @param heard each message that has its place in the conversation; must not block
     * @param closed once
     */
    WorkerTalk(Circuit circuit, BiConsumer<WorkerTalk, VmMessage> heard, Runnable closed) {
        this.circuit = circuit;
        this.heard = heard;
        this.closed = closed;
    }

    Circuit circuit() {
        return circuit;
    }

    /** Whether it was not certified yet, so that all begins with a question. */
    boolean boots() {
        return circuit.shown() instanceof BootIdentity;
    }

    /** From any thread. */
    void say(VerifierMessage message) {
        circuit.channel().eventLoop().execute(() -> circuit.channel().writeAndFlush(Framing.frame(message.wire())));
    }

    /** Says it and that keys and all are on their way, in one. From any thread. */
    void give(VerifierMessage message) {
        circuit.channel().eventLoop().execute(() -> {
            if (turns != null) {
                turns.given();
                circuit.channel().writeAndFlush(Framing.frame(message.wire()));
            }
        });
    }

    /** From any thread; what was said before goes out first. */
    void end() {
        circuit.channel().eventLoop().execute(circuit::endOutput);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        turns = boots() ? VmTurns.asked(Role.WORKER, now) : VmTurns.resuming(now);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VmMessage read = (VmMessage) message;
        if (turns != null) {
            turns.heard(read, System.nanoTime());
            heard.accept(this, read);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed.run();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.warn("worker {}: circuit ended: {}", circuit.terms().from(), cause.getMessage());
        circuit.end(CloseReason.PROTOCOL);
    }
}
