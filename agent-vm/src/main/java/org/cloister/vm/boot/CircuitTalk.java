package org.cloister.vm.boot;

import com.google.protobuf.MessageLite;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A conversation in one circuit: in order, or ended. Over when the other end has said all. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public abstract class CircuitTalk extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(CircuitTalk.class);

    private final Circuit circuit;

    protected CircuitTalk(Circuit circuit) {
        this.circuit = circuit;
    }

    public final Circuit circuit() {
        return circuit;
    }

    /** From any thread. */
    protected final void say(MessageLite message) {
        say(message, () -> {});
    }

    /**
     * From any thread.
     *
     * @param first on the circuit's event loop, in one with it
     */
    protected final void say(MessageLite message, Runnable first) {
        circuit.channel().eventLoop().execute(() -> {
            first.run();
            circuit.channel().writeAndFlush(Framing.frame(message));
        });
    }

    /** From any thread; what was said before goes out first. */
    public final void end() {
        circuit.endOutput();
    }

    /** Whether a break gets a log line; one of an unauthenticated peer need not. On the circuit's event loop. */
    protected boolean isBreakLogged() {
        return true;
    }

    @Override
    public final void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (isBreakLogged()) {
            LOG.warn("{}: circuit ended: {}", circuit.shown().name(), cause.getMessage());
        }
        circuit.end(CloseReason.PROTOCOL);
    }
}
