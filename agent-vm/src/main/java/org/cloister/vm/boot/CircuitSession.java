package org.cloister.vm.boot;

import com.google.protobuf.MessageLite;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.MessageFraming;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A conversation in one circuit: in order, or ended. Over when the other end has said all. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public abstract class CircuitSession extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(CircuitSession.class);

    private final Circuit circuit;

    protected CircuitSession(Circuit circuit) {
        this.circuit = circuit;
    }

    public final Circuit circuit() {
        return circuit;
    }

    /** From any thread. */
    protected final void send(MessageLite message) {
        send(message, () -> {});
    }

    /**
     * From any thread.
     *
     * @param first on the circuit's event loop, in one with it
     */
    protected final void send(MessageLite message, Runnable first) {
        circuit.channel().eventLoop().execute(() -> {
            first.run();
            circuit.channel().writeAndFlush(MessageFraming.frame(message));
        });
    }

    /** From any thread; what was said before goes out first. */
    public final void finishOutput() {
        circuit.shutdownOutput();
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
            LOG.warn("{}: circuit ended: {}", circuit.peerIdentity().name(), cause.getMessage());
        }
        circuit.close(CloseReason.PROTOCOL);
    }
}
