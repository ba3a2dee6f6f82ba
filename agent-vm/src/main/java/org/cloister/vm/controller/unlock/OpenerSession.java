package org.cloister.vm.controller.unlock;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.BiConsumer;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierMessageOrder;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.circuit.Circuit;
import org.cloister.vm.boot.CircuitSession;

/**
 * An opener's session on one circuit, which enforces the order of messages. Runs on the circuit's event loop, except
 * for {@link #send} and {@link #finishOutput}.
 */
final class OpenerSession extends CircuitSession {
    private final BiConsumer<OpenerSession, VerifierMessage> onMessage;
    private final VerifierMessageOrder messageOrder;

    private OpenerSession(
            Circuit circuit, VerifierMessageOrder messageOrder, BiConsumer<OpenerSession, VerifierMessage> onMessage) {
        super(circuit);
        this.messageOrder = messageOrder;
        this.onMessage = onMessage;
    }

    /**
     * Returns a session on a circuit on which the VM showed its boot certificate.
     *
     * @param onMessage receives each message that is valid in its order; must not block
     */
    static OpenerSession booting(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> onMessage) {
        return new OpenerSession(circuit, VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), onMessage);
    }

    /** Returns a session on a later circuit, on which the opener waits for the outcome. */
    static OpenerSession unlocked(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> onMessage) {
        return new OpenerSession(circuit, VerifierMessageOrder.forUnlocked(), onMessage);
    }

    /** Sends a message. Thread-safe. */
    void send(VmMessage message) {
        send(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage received = (VerifierMessage) message;
        messageOrder.accept(received);
        onMessage.accept(this, received);
    }
}
