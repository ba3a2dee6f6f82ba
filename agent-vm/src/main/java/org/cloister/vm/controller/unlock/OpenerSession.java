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
 * One circuit with an opener: in order, or ended. All but {@link #send} and {@link #finishOutput} on the circuit's
 * event loop.
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
     * On a circuit on which the VM showed its boot certificate.
     *
     * @param heard each message that has its place in the conversation; must not block
     */
    static OpenerSession booting(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> heard) {
        return new OpenerSession(circuit, VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), heard);
    }

    /** On a later one, on which the opener listens. */
    static OpenerSession unlocked(Circuit circuit, BiConsumer<OpenerSession, VerifierMessage> heard) {
        return new OpenerSession(circuit, VerifierMessageOrder.forUnlocked(), heard);
    }

    /** From any thread. */
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
