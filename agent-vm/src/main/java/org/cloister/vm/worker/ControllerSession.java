package org.cloister.vm.worker;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierMessageOrder;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.vm.boot.CircuitSession;

/** The worker's end of one circuit with the controlling VM. A message out of order closes it. */
final class ControllerSession extends CircuitSession {
    private final VerifierMessageOrder turns;
    private final Consumer<VerifierMessage> heard;
    private final Runnable closed;

    /**
     * Creates the session.
     *
     * @param heard receives each message that is in order; must not block
     * @param closed runs once
     */
    ControllerSession(Circuit circuit, VerifierMessageOrder turns, Consumer<VerifierMessage> heard, Runnable closed) {
        super(circuit);
        this.turns = turns;
        this.heard = heard;
        this.closed = closed;
    }

    /** Sends a message. Thread-safe. */
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
