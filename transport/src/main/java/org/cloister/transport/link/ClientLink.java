package org.cloister.transport.link;

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
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;
import org.jspecify.annotations.Nullable;

/** Dialling side of one HTTP/2 connection: to a relay over TLS, or to a host over its channel. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class ClientLink implements AutoCloseable {
    /** The relay's own limit, plus an allowance for the round trip. */
    private static final long ANSWER_MS = 2 * ProtocolLimits.DIAL_BACK.toMillis();

    private final Channel channel;
    private final Promise<Void> goAway;
    private final @Nullable CertifiedIdentity peer;

    /** Creates a link over a VM's channel, whose other side is not trusted. */
    public ClientLink(Channel channel) {
        this(channel, null);
    }

    /** @param channel with {@link LinkCodec#client} in its pipeline */
    private ClientLink(Channel channel, @Nullable CertifiedIdentity peer) {
        this.channel = channel;
        this.peer = peer;
        this.goAway = channel.eventLoop().newPromise();
        channel.pipeline().addLast(new ConnectionFrames(goAway));
        channel.closeFuture().addListener(closed -> goAway.trySuccess(null));
    }

    /** Dials, authenticates both sides, and succeeds when streams can be opened. */
    public static Future<ClientLink> dial(
            EventLoopGroup loops, InetSocketAddress relay, TlsCredential own, CertifiedPeerVerifier peer) {
        EventLoop loop = loops.next();
        Promise<ClientLink> promise = loop.newPromise();
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) ProtocolLimits.TLS_HANDSHAKE.toMillis())
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        LinkHandshakePeer witness = new LinkHandshakePeer(peer);
                        SslHandler tls = new SslHandler(TlsProfile.LINK.client(own, witness));
                        tls.setHandshakeTimeoutMillis(ProtocolLimits.TLS_HANDSHAKE.toMillis());
                        channel.pipeline().addLast(tls, new Handshake(promise, witness, streamsOf(own)));
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

    private static LinkStreams streamsOf(TlsCredential own) {
        try {
            return LinkStreams.of(CertificateChain.of(own.chain()).role());
        } catch (IdentityRefusedException e) {
            // The relay refuses it, too.
            return LinkStreams.DEVICE;
        }
    }

    /**
     * Opens a stream and waits for its response. The promise fails with a {@link CircuitException}.
     *
     * @param ready called on the stream's event loop with its channel when the response is 200, before any byte is
     *     received; {@link StreamBytes} is the first handler
     */
    public Future<Http2StreamChannel> open(StreamRequest request, Consumer<Http2StreamChannel> ready) {
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
                        promise.tryFailure(new CircuitException(
                                request.path(), CircuitClose.byRelay(CloseReason.LOST), opened.cause()));
                        return;
                    }
                    Http2StreamChannel stream = opened.getNow();
                    stream.writeAndFlush(new DefaultHttp2HeadersFrame(request.headers(), false));
                });
        return promise;
    }

    /** Returns the peer that the handshake verified; empty if there was no handshake. */
    public Optional<CertifiedIdentity> peer() {
        return Optional.ofNullable(peer);
    }

    /** Returns the connection, for callers that open their own streams. */
    public Channel channel() {
        return channel;
    }

    public EventLoop loop() {
        return channel.eventLoop();
    }

    /**
     * Returns a future that completes when the other side accepts no more streams: it sent GOAWAY, or the connection
     * ended.
     */
    public Future<Void> peerGoAwayFuture() {
        return goAway;
    }

    /** Returns a future that completes when the connection is closed. */
    public ChannelFuture closeFuture() {
        return channel.closeFuture();
    }

    /** Closes the connection and all its streams at once. */
    @Override
    public void close() {
        channel.close();
    }

    /** Installs HTTP/2 after the relay is authenticated. */
    private static final class Handshake extends ChannelInboundHandlerAdapter {
        private final Promise<ClientLink> promise;
        private final LinkHandshakePeer witness;
        private final LinkStreams streams;

        Handshake(Promise<ClientLink> promise, LinkHandshakePeer witness, LinkStreams streams) {
            this.promise = promise;
            this.witness = witness;
            this.streams = streams;
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
                    LinkCodec.client(ctx.pipeline(), streams);
                    ctx.pipeline().remove(this);
                    if (!promise.trySuccess(
                            new ClientLink(ctx.channel(), witness.found().orElseThrow()))) {
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

    /** Handles frames and errors of the connection itself; an error closes it. */
    private static final class ConnectionFrames extends ChannelInboundHandlerAdapter {
        private final Promise<Void> goAway;

        ConnectionFrames(Promise<Void> goAway) {
            this.goAway = goAway;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2GoAwayFrame) {
                goAway.trySuccess(null);
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Waits for the response's header fields. */
    private static final class Response extends ChannelInboundHandlerAdapter {
        private final StreamRequest request;
        private final Promise<Http2StreamChannel> promise;
        private final Consumer<Http2StreamChannel> ready;

        Response(StreamRequest request, Promise<Http2StreamChannel> promise, Consumer<Http2StreamChannel> ready) {
            this.request = request;
            this.promise = promise;
            this.ready = ready;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            ctx.executor()
                    .schedule(
                            () -> fail(ctx, CircuitClose.byRelay(CloseReason.NO_ANSWER)),
                            ANSWER_MS,
                            TimeUnit.MILLISECONDS);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (!(event instanceof StreamBytes.Head head)) {
                ctx.fireUserEventTriggered(event);
                return;
            }
            CharSequence status = head.headers().status();
            CharSequence version = head.headers().get(StreamRequest.VERSION);
            if (status == null || !"200".contentEquals(status) || head.last()) {
                fail(ctx, StreamRequest.close(head.headers()).orElse(CircuitClose.byRelay(CloseReason.PROTOCOL)));
            } else if (version == null || !spoken(version)) {
                fail(ctx, CircuitClose.byRelay(CloseReason.VERSION));
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

        private void fail(ChannelHandlerContext ctx, CircuitClose close) {
            if (promise.tryFailure(new CircuitException(request.path(), close))) {
                ctx.close();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
            fail(ctx, CircuitClose.byRelay(CloseReason.PROTOCOL));
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(ctx, CircuitClose.byRelay(CloseReason.LOST));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(ctx, CircuitClose.byRelay(CloseReason.PROTOCOL));
        }
    }
}
