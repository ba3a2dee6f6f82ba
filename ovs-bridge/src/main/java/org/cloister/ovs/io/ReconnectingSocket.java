package org.cloister.ovs.io;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.base.connection.ReconnectPolicy;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Unix socket that reconnects after each loss. It performs what {@link ReconnectPolicy} decides, on
 * the one event loop that also owns everything behind it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel arrives as its exception or its close
public final class ReconnectingSocket {
    private static final Duration MIN_BACKOFF = Duration.ofMillis(20);
    /** Short, because a restarted vswitchd must have its flows within a second. */
    private static final Duration MAX_BACKOFF = Duration.ofMillis(300);

    private static final Duration PROBE_AFTER = Duration.ofSeconds(5);

    private final EventLoop loop;
    private final Path socket;
    private final Peer peer;
    private final ReconnectPolicy reconnect;
    private @Nullable Channel channel;
    private @Nullable ScheduledFuture<?> timer;
    private boolean closed;

    /** The protocol on the connection; every call is made on the event loop. */
    public interface Peer {
        /** Adds the codec; its last inbound output is passed to {@link #onMessage}. */
        void initialise(Channel channel);

        void onConnected();

        /** @throws OvsException closes the connection and is passed to {@link #onDisconnected} */
        void onMessage(Object message) throws OvsException;

        void onDisconnected(OvsException why);

        void probe();
    }

    public ReconnectingSocket(EventLoop loop, Path socket, Peer peer) {
        this.loop = loop;
        this.socket = socket;
        this.peer = peer;
        this.reconnect =
                new ReconnectPolicy(MIN_BACKOFF, MAX_BACKOFF, PROBE_AFTER, Optional.of(PROBE_AFTER), System.nanoTime());
    }

    public void start() {
        loop.execute(this::run);
    }

    /**
     * Sends a message. Call on the event loop only. The message is lost if there is no connection; the owner is
     * notified of that.
     */
    public void send(Object message) {
        if (channel == null) {
            ReferenceCountUtil.release(message);
        } else {
            channel.writeAndFlush(message, channel.voidPromise());
        }
    }

    /** Writes without flushing; a {@link #send} must follow. */
    public void queue(Object message) {
        if (channel == null) {
            ReferenceCountUtil.release(message);
        } else {
            channel.write(message, channel.voidPromise());
        }
    }

    public boolean isConnected() {
        return channel != null;
    }

    public long connections() {
        return reconnect.connections();
    }

    /** See {@link ReconnectPolicy#onUseful}. */
    public void markUseful() {
        reconnect.onUseful();
    }

    public Path socket() {
        return socket;
    }

    /** Closes the present connection; a new one is attempted. */
    public void drop(OvsException why) {
        Channel dropped = channel;
        if (dropped != null) {
            channel = null;
            dropped.close();
            reconnect.onDisconnected(System.nanoTime());
            peer.onDisconnected(why);
            schedule();
        }
    }

    /** Closes the connection permanently. */
    public void close() {
        closed = true;
        if (timer != null) {
            timer.cancel(false);
        }
        drop(new OvsException.Disconnected(socket.toString(), "a closed client"));
    }

    private void run() {
        if (closed) {
            return;
        }
        switch (reconnect.run(System.nanoTime())) {
            case CONNECT -> connect();
            case PROBE -> peer.probe();
            case DISCONNECT ->
                drop(new OvsException.Disconnected(
                        socket.toString(), "silence for " + 2 * PROBE_AFTER.toSeconds() + " s"));
            case NONE -> {}
        }
        schedule();
    }

    private void schedule() {
        if (timer != null) {
            timer.cancel(false);
        }
        if (!closed) {
            reconnect
                    .untilDue(System.nanoTime())
                    .ifPresent(wait -> timer = loop.schedule(this::run, wait, TimeUnit.NANOSECONDS));
        }
    }

    private void connect() {
        new Bootstrap()
                .group(loop)
                .channel(NioDomainSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opened) {
                        peer.initialise(opened);
                        opened.pipeline().addLast(new Inbound());
                    }
                })
                .connect(UnixDomainSocketAddress.of(socket))
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        reconnect.onDisconnected(System.nanoTime());
                        schedule();
                    }
                });
    }

    private final class Inbound extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (closed || channel != null) {
                ctx.close();
                return;
            }
            channel = ctx.channel();
            reconnect.onConnected(System.nanoTime());
            schedule();
            peer.onConnected();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (ctx.channel() != channel) {
                ReferenceCountUtil.release(message);
                return;
            }
            reconnect.onBytes(System.nanoTime());
            try {
                peer.onMessage(message);
            } catch (OvsException e) {
                drop(e);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (ctx.channel() == channel) {
                drop(new OvsException.Disconnected(socket.toString(), "an end from the other side"));
            }
        }

        /** Handles bytes that the codec rejected, or a failure of the socket. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (ctx.channel() == channel && cause instanceof IOException) {
                drop(new OvsException.Disconnected(socket.toString(), String.valueOf(cause.getMessage())));
            } else if (ctx.channel() == channel) {
                drop(new OvsException.Malformed(
                        socket.toString(), "a message within its limits", String.valueOf(cause.getMessage()), cause));
            } else {
                ctx.close();
            }
        }
    }
}
