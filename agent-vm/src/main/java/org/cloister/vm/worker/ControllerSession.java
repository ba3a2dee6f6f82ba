package org.cloister.vm.worker;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierMessageOrder;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.vm.boot.CircuitSession;

/** One circuit with the controlling VM, at its worker: in order, or ended. */
final class ControllerSession extends CircuitSession {
    private final VerifierMessageOrder turns;
    private final Consumer<VerifierMessage> heard;
    private final Runnable closed;

    /**
     * @param heard each message that has its place in the conversation; must not block
     * @param closed once
     */
    ControllerSession(Circuit circuit, VerifierMessageOrder turns, Consumer<VerifierMessage> heard, Runnable closed) {
        super(circuit);
        this.turns = turns;
        this.heard = heard;
        this.closed = closed;
    }

    /** From any thread. */
    void send(VmMessage message) {
        send(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage read = (VerifierMessage) message;
        turns.accept(read);
        heard.accept(read);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed.run();
    }
}
