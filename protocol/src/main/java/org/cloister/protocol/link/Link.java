package org.cloister.protocol.link;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.protocol.identity.Identity;
import org.jspecify.annotations.Nullable;

/** The dialling side of one HTTP/2 connection: to a relay over TLS, or to a host over its channel. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class Link implements AutoCloseable {
    /** The relay's own limit and what the way there and back may take. */
    private static final long ANSWER_MS = 2 * LinkLimits.DIAL_BACK.toMillis();

    private final Channel channel;
    private final Promise<Void> leaving;
    private final @Nullable Identity peer;

    /** A channel of a VM: whoever is there is believed nothing. */
    public Link(Channel channel) {
        this(channel, null);
    }

    /** @param channel with {@link LinkCodec#client} in its pipeline */
    private Link(Channel channel, @Nullable Identity peer) {
        this.channel = channel;
        this.peer = peer;
        this.leaving = channel.eventLoop().newPromise();
        channel.pipeline().addLast(new Rest(leaving));
        channel.closeFuture().addListener(closed -> leaving.trySuccess(null));
    }

    /** Dials, authenticates both sides, and is ready for streams. */
    public static Future<Link> dial(EventLoopGroup loops, InetSocketAddress relay, Credential own, Trust peer) {
        EventLoop loop = loops.next();
        Promise<Link> promise = loop.newPromise();
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) LinkLimits.TLS_HANDSHAKE.toMillis())
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        Witness witness = new Witness(peer);
                        SslHandler tls = new SslHandler(TlsProfile.LINK.client(own, witness));
                        tls.setHandshakeTimeoutMillis(LinkLimits.TLS_HANDSHAKE.toMillis());
                        channel.pipeline().addLast(tls, new Handshake(promise, witness));
                    }
                })
                .connect(relay);
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                promise.tryFailure(
                        new IOException("relay " + relay + ": " + done.cause().getMessage(), done.cause()));
            }
        });
        return promise;
    }

    /**
     * Opens a stream and waits for its response. The promise fails with a {@link CircuitException}.
     *
     * @param ready called on the stream's event loop with its channel when the response is 200, before any byte comes;
     *     {@link StreamBytes} is the first handler
     */
    public Future<Http2StreamChannel> open(Request request, Consumer<Http2StreamChannel> ready) {
        Promise<Http2StreamChannel> promise = channel.eventLoop().newPromise();
        new Http2StreamChannelBootstrap(channel)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline().addLast(new StreamBytes(), new Response(request, promise, ready));
                    }
                })
                .open()
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        promise.tryFailure(
                                new CircuitException(request.path(), Close.byRelay(CloseReason.LOST), opened.cause()));
                        return;
                    }
                    Http2StreamChannel stream = opened.getNow();
                    stream.writeAndFlush(new DefaultHttp2HeadersFrame(request.headers(), false));
                });
        return promise;
    }

    /** Whom the handshake found, if there was one. */
    public Optional<Identity> peer() {
        return Optional.ofNullable(peer);
    }

    /** The connection, for whoever opens streams of its own. */
    public Channel channel() {
        return channel;
    }

    public EventLoop loop() {
        return channel.eventLoop();
    }

    /** Done when the other side takes no more streams: it said so (GOAWAY), or the connection ended. */
    public Future<Void> leaving() {
        return leaving;
    }

    /** Done when the connection is. */
    public ChannelFuture ended() {
        return channel.closeFuture();
    }

    /** Ends all that is open on it, at once. */
    @Override
    public void close() {
        channel.close();
    }

    /** Installs HTTP/2 once it is known who the relay is. */
    private static final class Handshake extends ChannelInboundHandlerAdapter {
        private final Promise<Link> promise;
        private final Witness witness;

        Handshake(Promise<Link> promise, Witness witness) {
            this.promise = promise;
            this.witness = witness;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake) {
                SslHandler tls = ctx.pipeline().get(SslHandler.class);
                if (!handshake.isSuccess()) {
                    fail(ctx, new IOException("link: TLS: " + handshake.cause().getMessage(), handshake.cause()));
                } else if (!"h2".equals(tls.engine().getApplicationProtocol())) {
                    fail(
                            ctx,
                            new IOException("link: want the protocol h2, have "
                                    + tls.engine().getApplicationProtocol()));
                } else {
                    LinkCodec.client(ctx.pipeline());
                    ctx.pipeline().remove(this);
                    if (!promise.trySuccess(
                            new Link(ctx.channel(), witness.found().orElseThrow()))) {
                        ctx.close();
                    }
                }
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        private void fail(ChannelHandlerContext ctx, IOException why) {
            promise.tryFailure(why);
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            promise.tryFailure(new IOException("link: the relay closed the connection before it was secured"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(ctx, new IOException("link: " + cause.getMessage(), cause));
        }
    }

    /** What HTTP/2 leaves over: frames of the connection, and its errors, after which it is closed. */
    private static final class Rest extends ChannelInboundHandlerAdapter {
        private final Promise<Void> leaving;

        Rest(Promise<Void> leaving) {
            this.leaving = leaving;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame) {
                leaving.trySuccess(null);
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Waits for the head of the response. */
    private static final class Response extends ChannelInboundHandlerAdapter {
        private final Request request;
        private final Promise<Http2StreamChannel> promise;
        private final Consumer<Http2StreamChannel> ready;

        Response(Request request, Promise<Http2StreamChannel> promise, Consumer<Http2StreamChannel> ready) {
            this.request = request;
            this.promise = promise;
            this.ready = ready;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            ctx.executor()
                    .schedule(() -> fail(ctx, Close.byRelay(CloseReason.NO_ANSWER)), ANSWER_MS, TimeUnit.MILLISECONDS);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (!(event instanceof StreamBytes.Head head)) {
                ctx.fireUserEventTriggered(event);
                return;
            }
            CharSequence status = head.headers().status();
            CharSequence version = head.headers().get(Request.VERSION);
            if (status == null || !"200".contentEquals(status) || head.last()) {
                fail(ctx, Request.close(head.headers()).orElse(Close.byRelay(CloseReason.PROTOCOL)));
            } else if (version == null || !spoken(version)) {
                fail(ctx, Close.byRelay(CloseReason.VERSION));
            } else if (promise.setUncancellable()) {
                Http2StreamChannel stream = (Http2StreamChannel) ctx.channel();
                ctx.pipeline().remove(this);
                ready.accept(stream);
                promise.trySuccess(stream);
            }
        }

        private boolean spoken(CharSequence version) {
            try {
                return request.versions().contains(Integer.parseInt(version.toString()));
            } catch (NumberFormatException e) {
                return false;
            }
        }

        private void fail(ChannelHandlerContext ctx, Close close) {
            if (promise.tryFailure(new CircuitException(request.path(), close))) {
                ctx.close();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
            fail(ctx, Close.byRelay(CloseReason.PROTOCOL));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(ctx, Close.byRelay(CloseReason.LOST));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(ctx, Close.byRelay(CloseReason.PROTOCOL));
        }
    }
}
