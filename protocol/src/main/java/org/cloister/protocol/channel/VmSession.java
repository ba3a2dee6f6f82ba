package org.cloister.protocol.channel;

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
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkCodec;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.jspecify.annotations.Nullable;

/** One session with a VM, at its host. Its attach stream is written from any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
final class VmSession {
    final VmPort port;
    final Set<Name> served = ConcurrentHashMap.newKeySet();
    private final Channel connection;
    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicInteger unwritten = new AtomicInteger();
    private final AtomicBoolean attachClaimed = new AtomicBoolean();
    private final FloodGuard guard = new FloodGuard(System.nanoTime());
    private boolean cut;
    private volatile boolean requested;
    private volatile @Nullable Channel attachStream;

    private VmSession(VmPort port, Channel connection) {
        this.port = port;
        this.connection = connection;
    }

    /** On the connection's event loop, when the marks have been exchanged. */
    static void install(ChannelPipeline pipeline, VmPort port, Forwarding forwarding) {
        Channel channel = pipeline.channel();
        VmSession session = new VmSession(port, channel);
        ChannelInitializer<Channel> streams = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new VmStream(session, forwarding));
            }
        };
        LinkCodec.server(pipeline, streams, () -> session.tellCut("breaks HTTP/2"));
        pipeline.addLast(new Rest(session));
        ScheduledFuture<?> patience = channel.eventLoop()
                .schedule(
                        () -> {
                            if (!session.requested) {
                                session.cut("has a session and asks for nothing");
                            }
                        },
                        LinkLimits.MARK_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> {
            patience.cancel(false);
            forwarding.gone(session);
            port.events().ended();
        });
        port.events().began();
    }

    /** @return false if the VM says too much, which ends the session; on its event loop */
    boolean hears() {
        if (guard.take(System.nanoTime())) {
            return true;
        }
        cut("says more than " + LinkLimits.VM_WORDS + " things in 10 s");
        return false;
    }

    /** Before it goes further. */
    void refuse(Channel stream, CloseReason why) {
        port.events().refused(why);
        Answer.refuse(stream, Close.byRelay(why));
    }

    /** Ends the session for what the VM does; on its event loop. */
    void cut(String why) {
        tellCut(why);
        close();
    }

    /** Of a session whose end is under way. */
    void tellCut(String why) {
        if (connection.isActive() && !cut) {
            cut = true;
            port.events().cut(why);
        }
    }

    /** @return false for a stream too many, by whoever takes no notice of HTTP/2's own limit */
    boolean enter(Channel stream) {
        stream.closeFuture().addListener(closed -> streams.decrementAndGet());
        return streams.incrementAndGet() <= LinkLimits.STREAMS;
    }

    void requested() {
        requested = true;
    }

    /** @return true once: a session has one attach stream */
    boolean claimAttach() {
        return attachClaimed.compareAndSet(false, true);
    }

    void attached(Channel stream) {
        attachStream = stream;
    }

    boolean isAttached() {
        return attachStream != null;
    }

    boolean isActive() {
        return connection.isActive();
    }

    /** A VM that does not read what it is told is let go. */
    void say(RelayMessage message) {
        Channel stream = attachStream;
        if (stream == null) {
            return;
        }
        if (unwritten.incrementAndGet() > LinkLimits.ATTACH_QUEUE) {
            connection.eventLoop().execute(() -> cut("does not read what it is told"));
            return;
        }
        stream.writeAndFlush(Framing.frame(message.wire())).addListener(done -> unwritten.decrementAndGet());
    }

    Channel connection() {
        return connection;
    }

    void close() {
        connection.close();
    }

    /** What HTTP/2 leaves over. After an error or GOAWAY the session is over: QEMU does not say that the VM closed its port. */
    private static final class Rest extends ChannelInboundHandlerAdapter {
        private final VmSession session;

        Rest(VmSession session) {
            this.session = session;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame) {
                ctx.close();
            }
            ReferenceCountUtil.release(message);
            session.hears();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (!(cause instanceof IOException)) {
                session.tellCut("breaks HTTP/2");
            }
            ctx.close();
        }
    }
}
