package org.cloister.transport.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamResponse;
import org.jspecify.annotations.Nullable;

/** Session with a VM, at its host. Any thread may write to its attach stream. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write is reported as the stream's end
final class VmChannelSession {
    final VmPort port;
    final Set<CertificateName> served = ConcurrentHashMap.newKeySet();
    private final Channel connection;
    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicInteger unwritten = new AtomicInteger();
    private final AtomicBoolean attachClaimed = new AtomicBoolean();
    private final FloodGuard guard = new FloodGuard(System.nanoTime());
    private boolean cut;
    private volatile boolean requested;
    private volatile @Nullable Channel attachStream;

    private VmChannelSession(VmPort port, Channel connection) {
        this.port = port;
        this.connection = connection;
    }

    /** Installs the session on the connection's event loop after the marks were exchanged. */
    static void install(ChannelPipeline pipeline, VmPort port, VmForwarder forwarding) {
        Channel channel = pipeline.channel();
        VmChannelSession session = new VmChannelSession(port, channel);
        ChannelInitializer<Channel> streams = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new ChannelRequestReader(session, forwarding));
            }
        };
        LinkCodec.server(pipeline, LinkStreams.MACHINE, streams, () -> session.reportCut("breaks HTTP/2"));
        pipeline.addLast(new ConnectionFrames(session));
        ScheduledFuture<?> timer = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!session.requested) {
                                session.cut("has a session and asks for nothing");
                            }
                        },
                        ProtocolLimits.MARK_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> {
            timer.cancel(false);
            forwarding.onSessionClosed(session);
            port.events().onSessionClosed();
        });
        port.events().onSessionOpened();
    }

    /**
     * Counts a message or frame of the VM.
     *
     * @return false if the VM exceeds the rate limit, which ends the session; on its event loop
     */
    boolean countMessage() {
        if (guard.tryAcquire(System.nanoTime())) {
            return true;
        }
        cut("says more than " + ProtocolLimits.VM_MESSAGES + " things in 10 s");
        return false;
    }

    /** Refuses a stream before it is forwarded. */
    void refuse(Channel stream, CloseReason why) {
        port.events().onRequestRefused(why);
        StreamResponse.refuse(stream, CircuitClose.byRelay(why));
    }

    /** Ends the session because of the VM's behaviour; on its event loop. */
    void cut(String why) {
        reportCut(why);
        close();
    }

    /** Reports the reason of a session that is already ending. */
    void reportCut(String why) {
        if (connection.isActive() && !cut) {
            cut = true;
            port.events().onSessionCut(why);
        }
    }

    /**
     * Counts a stream until it is closed.
     *
     * @return false if the stream exceeds the limit, which a peer that ignores HTTP/2's own limit can cause
     */
    boolean acquireStream(Channel stream) {
        stream.closeFuture().addListener(closed -> streams.decrementAndGet());
        return streams.incrementAndGet() <= LinkStreams.MACHINE.count();
    }

    void requested() {
        requested = true;
    }

    /**
     * Claims the session's attach stream.
     *
     * @return true at the first call: a session has one attach stream
     */
    boolean claimAttach() {
        return attachClaimed.compareAndSet(false, true);
    }

    void attached(Channel stream) {
        attachStream = stream;
    }

    boolean isActive() {
        return connection.isActive();
    }

    /** Sends a message; ends the session of a VM that does not read its messages. */
    void send(RelayMessage message) {
        Channel stream = attachStream;
        if (stream == null) {
            return;
        }
        if (unwritten.incrementAndGet() > ProtocolLimits.ATTACH_QUEUE) {
            connection.eventLoop().execute(() -> cut("does not read what it is told"));
            return;
        }
        stream.writeAndFlush(MessageFraming.frame(message.wire())).addListener(done -> unwritten.decrementAndGet());
    }

    void close() {
        connection.close();
    }

    /**
     * Handles frames and errors of the connection itself. An error or GOAWAY ends the session: QEMU does not report
     * that the VM closed its port.
     */
    private static final class ConnectionFrames extends ChannelInboundHandlerAdapter {
        private final VmChannelSession session;

        ConnectionFrames(VmChannelSession session) {
            this.session = session;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame) {
                ctx.close();
            }
            ReferenceCountUtil.release(message);
            session.countMessage();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!(cause instanceof IOException)) {
                session.reportCut("breaks HTTP/2");
            }
            ctx.close();
        }
    }
}
