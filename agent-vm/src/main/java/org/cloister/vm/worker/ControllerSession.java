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
    private final VerifierMessageOrder messageOrder;
    private final Consumer<VerifierMessage> onMessage;
    private final Runnable onClosed;

    /**
     * Creates the session.
     *
     * @param onMessage receives each message that is in order; must not block
     * @param onClosed runs once
     */
    ControllerSession(
            Circuit circuit,
            VerifierMessageOrder messageOrder,
            Consumer<VerifierMessage> onMessage,
            Runnable onClosed) {
        super(circuit);
        this.messageOrder = messageOrder;
        this.onMessage = onMessage;
        this.onClosed = onClosed;
    }

    /** Sends a message. Thread-safe. */
    void send(VmMessage message) {
        send(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage received = (VerifierMessage) message;
        messageOrder.accept(received);
        onMessage.accept(received);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        onClosed.run();
    }
}
