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
    private final BiConsumer<OpenerSession, VerifierMessage> heard;
    private final VerifierMessageOrder turns;

    private OpenerSession(
            Circuit circuit, VerifierMessageOrder turns, BiConsumer<OpenerSession, VerifierMessage> heard) {
        super(circuit);
        this.turns = turns;
        this.heard = heard;
    }

    /**
     * Returns a session on a circuit on which the VM showed its boot certificate.
     *
     * @param heard receives each message that is valid in its order; must not block
     */
    static OpenerSession booting(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> heard) {
        return new OpenerSession(circuit, VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), heard);
    }

    /** Returns a session on a later circuit, on which the opener waits for the outcome. */
    static OpenerSession unlocked(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> heard) {
        return new OpenerSession(circuit, VerifierMessageOrder.forUnlocked(), heard);
    }

    /** Sends a message. Thread-safe. */
    void send(VmMessage message) {
        send(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage read = (VerifierMessage) message;
        turns.accept(read);
        heard.accept(this, read);
    }
}
