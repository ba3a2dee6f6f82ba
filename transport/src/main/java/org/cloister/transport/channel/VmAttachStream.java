package org.cloister.transport.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.jspecify.annotations.Nullable;

/** Host's end of a VM's attach stream: docs/protocol.md, sections 8 and 10. The session ends with it. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a stream is reported as its end
final class VmAttachStream extends ChannelInboundHandlerAdapter {
    private final VmChannelSession session;
    private final VmForwarder forwarding;
    private boolean attached;
    private @Nullable ScheduledFuture<?> timer;

    private VmAttachStream(VmChannelSession session, VmForwarder forwarding) {
        this.session = session;
        this.forwarding = forwarding;
    }

    static void install(Channel stream, int version, VmChannelSession session, VmForwarder forwarding) {
        stream.pipeline()
                .addLast(
                        new StreamBytes(),
                        new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, AgentMessage::read),
                        new VmAttachStream(session, forwarding));
        ChannelRequestReader.accept(stream, version);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        timer = ctx.executor()
                .schedule(
                        () -> {
                            if (!attached) {
                                session.reportCut("opened an attach stream and said nothing on it");
                                close(ctx, CloseReason.PROTOCOL);
                            }
                        },
                        ProtocolLimits.MARK_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        if (!session.countMessage()) {
            return;
        }
        if (message instanceof AgentMessage.Attach && !attached) {
            attached = true;
            session.attached(ctx.channel());
            session.port.events().onAttached();
            forwarding.attached(session);
            session.port.attached(session);
        } else if (!attached || message instanceof AgentMessage.Attach) {
            throw new MalformedException("attach stream: want Attach once and first");
        } else if (message instanceof AgentMessage.Serve serve) {
            forwarding.serve(session, serve.name());
        } else if (message instanceof AgentMessage.Unserve unserve) {
            forwarding.unserve(session, unserve.name());
        } else if (message instanceof AgentMessage.DialRefused refused) {
            forwarding.refused(session, refused.token(), refused.reason());
        }
        // RevocationsKept is true of the VM only; the host answers the relay for itself.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            close(ctx, CloseReason.DONE);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        session.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        session.reportCut("breaks the protocol on its attach stream");
        close(ctx, CloseReason.PROTOCOL);
    }

    private void close(ChannelHandlerContext ctx, CloseReason why) {
        ctx.pipeline()
                .get(StreamBytes.class)
                .shutdownOutput(CircuitClose.byRelay(why))
                .addListener(done -> session.close());
    }
}
