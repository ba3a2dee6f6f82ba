package org.cloister.relay.links;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.circuits.RequestedStream;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Relay's end of an attach stream: docs/protocol.md, section 8. The link closes with it. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
final class RelayAttachStream extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(RelayAttachStream.class);

    private static final long BURST = 4L * ProtocolLimits.AGENT_MESSAGES_PER_SECOND;

    private final RelayLink link;
    private final AttachMessageHandler handler;
    private final RelayMetrics metrics;
    private final TokenBucket messageRate =
            new TokenBucket(ProtocolLimits.AGENT_MESSAGES_PER_SECOND, BURST, System.nanoTime());
    private @Nullable MessageFraming messages;
    private boolean attached;
    private boolean paused;

    private RelayAttachStream(RelayLink link, AttachMessageHandler handler, RelayMetrics metrics) {
        this.link = link;
        this.handler = handler;
        this.metrics = metrics;
    }

    static void install(RequestedStream stream, RelayLink link, AttachMessageHandler handler, RelayMetrics metrics) {
        RelayAttachStream own = new RelayAttachStream(link, handler, metrics);
        MessageFraming messages = new MessageFraming(
                link.isAuthority() ? ProtocolLimits.AUTHORITY_MESSAGE_BYTES : ProtocolLimits.AGENT_MESSAGE_BYTES,
                AgentMessage::read,
                () -> own.mayRead(stream.channel()));
        own.messages = messages;
        stream.channel().pipeline().addLast(new StreamBytes(), messages, own);
        stream.accept();
    }

    /**
     * Returns whether to read the next message. Pauses an agent that sends more messages than its rate permits, until
     * it may send again.
     */
    private boolean mayRead(Channel stream) {
        long waitNs = messageRate.waitNs(1, System.nanoTime());
        if (waitNs > 0 && !paused) {
            paused = true;
            stream.eventLoop().schedule(this::resume, waitNs, TimeUnit.NANOSECONDS);
        }
        return !paused;
    }

    private void resume() {
        paused = false;
        if (messages != null) {
            messages.resume();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.executor()
                .schedule(
                        () -> {
                            if (!attached) {
                                close(ctx, CloseReason.PROTOCOL);
                            }
                        },
                        ProtocolLimits.FIRST_REQUEST.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        messageRate.charge(1, System.nanoTime());
        if (message instanceof AgentMessage.Attach attach && !attached) {
            attached = true;
            link.onAttached(ctx.channel(), attach.software());
            handler.onAttached(link);
        } else if (!attached || message instanceof AgentMessage.Attach) {
            throw new MalformedException("attach stream: expected Attach as the first message and only once");
        } else {
            handler.onMessage(link, (AgentMessage) message);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            close(ctx, CloseReason.DONE);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        link.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        metrics.protocolErrors.inc();
        LOG.warn("closing link peer={} reason=\"attach stream: {}\"", link.peer, LinkAcceptor.reason(cause));
        close(ctx, CloseReason.PROTOCOL);
    }

    private void close(ChannelHandlerContext ctx, CloseReason reason) {
        ctx.pipeline()
                .get(StreamBytes.class)
                .shutdownOutput(CircuitClose.byRelay(reason))
                .addListener(done -> link.close());
    }
}
