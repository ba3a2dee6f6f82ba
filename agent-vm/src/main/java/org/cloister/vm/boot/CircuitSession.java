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

/**
 * Handler of the messages on one end of a circuit. A message out of order closes the circuit; so does the end of the
 * peer's output.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures of the channel arrive as its close
public abstract class CircuitSession extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(CircuitSession.class);

    private final Circuit circuit;

    protected CircuitSession(Circuit circuit) {
        this.circuit = circuit;
    }

    public final Circuit circuit() {
        return circuit;
    }

    /** Sends a message. Thread-safe. */
    protected final void send(MessageLite message) {
        send(message, () -> {});
    }

    /**
     * Sends a message. Thread-safe.
     *
     * @param first runs on the circuit's event loop, in the same task as the send
     */
    protected final void send(MessageLite message, Runnable first) {
        circuit.channel().eventLoop().execute(() -> {
            first.run();
            circuit.channel().writeAndFlush(MessageFraming.frame(message));
        });
    }

    /** Closes the output after all messages sent before. Thread-safe. */
    public final void finishOutput() {
        circuit.shutdownOutput();
    }

    /**
     * Returns whether a broken circuit is logged; that of an unauthenticated peer need not be. Called on the circuit's
     * event loop.
     */
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
