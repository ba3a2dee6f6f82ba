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
    private final VerifierTurns turns = VerifierTurns.booting(Role.CONTROLLER);

    /** @param heard each message that has its place in the conversation; must not block */
    OpenerTalk(Circuit circuit, BiConsumer<OpenerTalk, VerifierMessage> heard) {
        super(circuit);
        this.heard = heard;
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
