package org.cloister.ipsec.vici;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.connection.ReconnectPolicy;
import org.cloister.ipsec.vici.IpsecException.Disconnected;
import org.cloister.ipsec.vici.IpsecException.Malformed;
import org.jspecify.annotations.Nullable;

/**
 * A connection to charon that reconnects after each loss. Safe for use by several threads; answers and events arrive on
 * the event loop. The protocol has no request numbers, so commands are sent one after the other, and a command that
 * times out closes the connection: a late answer would be mistaken for the next command's.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel arrives as its exception or its close
public final class ViciClient implements AutoCloseable {
    /** The socket on which charon listens in Debian and RHEL. */
    public static final Path DEFAULT_SOCKET = Path.of("/run/charon.vici");

    /**
     * Events with pieces of answers. A client receives those of its own commands only, so it can register for all of
     * them once.
     */
    private static final List<String> STREAMS =
            List.of("list-sa", "list-conn", "list-cert", "list-policy", "list-authority", "control-log");

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final EventLoop loop;
    private final Path socket;
    private final List<String> events;
    private final Listener listener;
    private final ViciCommandQueue commands;
    private final ReconnectPolicy reconnect;
    private @Nullable Channel channel;
    private @Nullable ScheduledFuture<?> timer;
    private boolean closed;

    /** Receives the connection's events on the event loop. */
    public interface Listener {
        /** The client is ready for commands; charon may have lost all its earlier state. */
        void onConnected();

        void onEvent(String name, ViciMessage message);

        /** The connection was lost or an attempt failed; called once for each. */
        void onLost(IpsecException why);
    }

    /** @param events such as {@code ike-updown}; one that this charon does not have is left out */
    public ViciClient(EventLoop loop, Path socket, Set<String> events, Listener listener) {
        this.loop = loop;
        this.socket = socket;
        this.listener = listener;
        this.events = new ArrayList<>(STREAMS);
        this.events.addAll(events);
        this.commands = new ViciCommandQueue(loop, this::send, this::drop);
        this.reconnect =
                new ReconnectPolicy(SHORTEST_PAUSE, LONGEST_PAUSE, TIMEOUT, Optional.empty(), System.nanoTime());
    }

    public void start() {
        loop.execute(this::run);
    }

    /**
     * Sends a command. The future fails with an {@link IpsecException}, at once when there is no connection.
     *
     * @param limit time from sending to the answer
     */
    public CompletableFuture<ViciReply> call(String command, ViciMessage request, Duration limit) {
        CompletableFuture<ViciReply> done = new CompletableFuture<>();
        loop.execute(() -> commands.add(ViciCommandQueue.Command.of(command, request, limit, done)));
        return done;
    }

    /** Loads a private key; the reply has its {@code id}. See {@link PrivateKeySource}. */
    public CompletableFuture<ViciReply> loadKey(PrivateKeySource key, Duration limit) {
        CompletableFuture<ViciReply> done = new CompletableFuture<>();
        loop.execute(() -> commands.add(ViciCommandQueue.Command.ofKey(key, limit, done)));
        return done;
    }

    /** Sends a command as {@link #call} does; {@code success = no} is a {@link IpsecException.Refused}. */
    public CompletableFuture<ViciReply> callSuccessfully(String command, ViciMessage request, Duration limit) {
        return call(command, request, limit).thenCompose(reply -> requireSuccess(command, reply));
    }

    public static CompletableFuture<ViciReply> requireSuccess(String command, ViciReply reply) {
        return reply.message().isYes("success")
                ? CompletableFuture.completedFuture(reply)
                : CompletableFuture.failedFuture(
                        new IpsecException.Refused(command, reply.message().text("errmsg", "no reason")));
    }

    /** Closes the client permanently. Returns before the connection has ended. */
    @Override
    public void close() {
        loop.execute(() -> {
            closed = true;
            drop(new Disconnected(socket.toString(), "a closed client"));
            schedule();
        });
    }

    private void run() {
        if (!closed && reconnect.run(System.nanoTime()) == ReconnectPolicy.Action.CONNECT) {
            connect();
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
                        opened.pipeline()
                                .addLast(new LengthFieldBasedFrameDecoder(
                                        ViciMessageCodec.MAX_BYTES + ViciPacket.LENGTH_BYTES,
                                        0,
                                        ViciPacket.LENGTH_BYTES,
                                        0,
                                        ViciPacket.LENGTH_BYTES))
                                .addLast(new Inbound());
                    }
                })
                .connect(UnixDomainSocketAddress.of(socket))
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        reconnect.onDisconnected(System.nanoTime());
                        listener.onLost(new Disconnected(socket.toString(), reason(done.cause())));
                        schedule();
                    }
                });
    }

    /** Returns the system's error text, to which Netty adds the address. */
    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        return String.valueOf((cause == null ? failure : cause).getMessage());
    }

    private void onActive(Channel active) {
        channel = active;
        reconnect.onConnected(System.nanoTime());
        schedule();
        commands.open();
        for (String event : events) {
            commands.add(ViciCommandQueue.Command.registration(event, TIMEOUT));
        }
        commands.add(ViciCommandQueue.Command.of("version", ViciMessage.empty(), TIMEOUT, ready()));
    }

    private CompletableFuture<ViciReply> ready() {
        CompletableFuture<ViciReply> ready = new CompletableFuture<>();
        ready.thenAccept(version -> {
            reconnect.onUseful();
            listener.onConnected();
        });
        return ready;
    }

    private void send(ByteBuf packet, boolean secret) {
        Channel open = channel;
        if (secret) {
            ByteBuf kept = packet.retain();
            Runnable erase = () -> PrivateKeySource.erase(kept);
            if (open == null) {
                packet.release();
                erase.run();
            } else {
                open.writeAndFlush(packet).addListener(written -> erase.run());
            }
        } else if (open == null) {
            packet.release();
        } else {
            open.writeAndFlush(packet, open.voidPromise());
        }
    }

    private void drop(IpsecException why) {
        Channel dropped = channel;
        if (dropped != null) {
            channel = null;
            dropped.close();
            reconnect.onDisconnected(System.nanoTime());
            commands.close(why);
            listener.onLost(why);
            schedule();
        }
    }

    private final class Inbound extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (channel == null && !closed) {
                onActive(ctx.channel());
            } else {
                ctx.close();
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) throws Malformed {
            if (ctx.channel() != channel) {
                return;
            }
            ViciPacket packet = ViciPacket.read(bytes);
            if (packet instanceof ViciPacket.Event event && !STREAMS.contains(event.name())) {
                listener.onEvent(event.name(), event.message());
            } else {
                commands.onPacket(packet);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (ctx.channel() == channel) {
                drop(new Disconnected(socket.toString(), "an end from charon's side"));
            }
        }

        /** Handles bytes that were rejected, or a failure of the socket. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (ctx.channel() != channel) {
                ctx.close();
            } else if (cause instanceof IpsecException refused) {
                drop(refused);
            } else if (cause instanceof IOException) {
                drop(new Disconnected(socket.toString(), String.valueOf(cause.getMessage())));
            } else {
                drop(new Malformed(
                        "vici packet",
                        "at most " + ViciMessageCodec.MAX_BYTES + " bytes",
                        String.valueOf(cause.getMessage())));
            }
        }
    }
}
