package org.cloister.vm.joining;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.Consumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierTurns;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.boot.CircuitTalk;

/** One circuit with the controlling VM, at its worker: in order, or ended. */
final class ControllerTalk extends CircuitTalk {
    private final VerifierTurns turns;
    private final Consumer<VerifierMessage> heard;
    private final Runnable closed;

    /**
     * @param heard each message that has its place in the conversation; must not block
     * @param closed once
     */
    ControllerTalk(Circuit circuit, VerifierTurns turns, Consumer<VerifierMessage> heard, Runnable closed) {
        super(circuit);
        this.turns = turns;
        this.heard = heard;
        this.closed = closed;
    }

    /** From any thread. */
    void say(VmMessage message) {
        say(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage read = (VerifierMessage) message;
        turns.heard(read);
        heard.accept(read);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed.run();
    }
}
