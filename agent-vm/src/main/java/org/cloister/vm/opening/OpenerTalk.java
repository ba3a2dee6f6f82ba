package org.cloister.vm.opening;

import io.netty.channel.ChannelHandlerContext;
import java.util.function.BiConsumer;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VerifierTurns;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.boot.CircuitTalk;

/** One circuit with an opener: in order, or ended. All but {@link #say} and {@link #end} on the circuit's event loop. */
final class OpenerTalk extends CircuitTalk {
    private final BiConsumer<OpenerTalk, VerifierMessage> heard;
    private final VerifierTurns turns;

    private OpenerTalk(Circuit circuit, VerifierTurns turns, BiConsumer<OpenerTalk, VerifierMessage> heard) {
        super(circuit);
        this.turns = turns;
        this.heard = heard;
    }

    /**
     * On a circuit on which the VM showed its boot certificate.
     *
     * @param heard each message that has its place in the conversation; must not block
     */
    static OpenerTalk booting(Circuit circuit, BiConsumer<OpenerTalk, VerifierMessage> heard) {
        return new OpenerTalk(circuit, VerifierTurns.booting(Role.CONTROLLER), heard);
    }

    /** On a later one, on which the opener listens. */
    static OpenerTalk later(Circuit circuit, BiConsumer<OpenerTalk, VerifierMessage> heard) {
        return new OpenerTalk(circuit, VerifierTurns.unlocked(), heard);
    }

    /** From any thread. */
    void say(VmMessage message) {
        say(message.wire());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        VerifierMessage read = (VerifierMessage) message;
        turns.heard(read);
        heard.accept(this, read);
    }
}
