package org.cloister.relay.links;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.transport.link.LinkHandshakePeer;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/** A device whose HTTP/2 windows are 0: it takes responses, and not a byte of what the relay answers on its streams. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class ZeroWindowLink implements AutoCloseable {
    private final Channel connection;

    public ZeroWindowLink(EventLoopGroup loops, SocketAddress relay, TlsCredential own, CertifiedPeerVerifier trust)
            throws Exception {
        LinkHandshakePeer witness = new LinkHandshakePeer(trust);
        CompletableFuture<Channel> ready = new CompletableFuture<>();
        new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(new SslHandler(TlsProfile.LINK.client(own, witness)), new Secured(ready));
                    }
                })
                .connect(relay)
                .sync();
        connection = ready.get(20, TimeUnit.SECONDS);
    }

    private static final class Secured extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Channel> ready;

        Secured(CompletableFuture<Channel> ready) {
            this.ready = ready;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof SslHandshakeCompletionEvent done) {
                if (!done.isSuccess()) {
                    ready.completeExceptionally(done.cause());
                    return;
                }
                ctx.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forClient()
                                        .initialSettings(new Http2Settings()
                                                .pushEnabled(false)
                                                .initialWindowSize(0))
                                        .build(),
                                new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                ctx.pipeline().remove(this);
                ready.complete(ctx.channel());
            }
        }
    }

    /** One stream of it. */
    public static final class Stream {
        /** Statuses of responses, and {@code end}. */
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        public final AtomicLong written = new AtomicLong();
        private final Channel channel;

        Stream(Channel channel) {
            this.channel = channel;
        }

        /** Waits for the relay's window, if it has to. */
        public void send(ByteBuf bytes) {
            int count = bytes.readableBytes();
            channel.writeAndFlush(new DefaultHttp2DataFrame(bytes)).addListener(done -> {
                if (done.isSuccess()) {
                    written.addAndGet(count);
                }
            });
        }

        public String next() throws InterruptedException {
            return TestAgent.require(received.poll(20, TimeUnit.SECONDS), "no response");
        }

        public boolean isOpen() {
            return channel.isActive();
        }
    }

    public Stream open(StreamRequest request) throws Exception {
        CompletableFuture<Stream> opened = new CompletableFuture<>();
        Channel channel = RelayFixture.get(new Http2StreamChannelBootstrap(connection)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        Stream own = new Stream(stream);
                        stream.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object message) {
                                if (message instanceof Http2HeadersFrame headers) {
                                    own.received.add(
                                            String.valueOf(headers.headers().status()));
                                }
                                ReferenceCountUtil.release(message);
                            }

                            @Override
                            public void channelInactive(ChannelHandlerContext ctx) {
                                own.received.add("end");
                            }
                        });
                        opened.complete(own);
                    }
                })
                .open());
        channel.writeAndFlush(new DefaultHttp2HeadersFrame(request.headers(), false));
        return opened.get(20, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        connection.close().syncUninterruptibly();
    }
}
