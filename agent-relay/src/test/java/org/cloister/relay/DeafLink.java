package org.cloister.relay;

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
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.TlsProfile;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.link.Witness;

/** A device whose HTTP/2 windows are 0: it takes responses, and not a byte of what the relay answers on its streams. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class DeafLink implements AutoCloseable {
    private final Channel connection;

    DeafLink(EventLoopGroup loops, SocketAddress relay, Credential own, Trust trust) throws Exception {
        Witness witness = new Witness(trust);
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
    static final class Stream {
        /** Statuses of responses, and {@code end}. */
        final BlockingQueue<String> said = new LinkedBlockingQueue<>();

        final AtomicLong written = new AtomicLong();
        private final Channel channel;

        Stream(Channel channel) {
            this.channel = channel;
        }

        /** Waits for the relay's window, if it has to. */
        void send(ByteBuf bytes) {
            int count = bytes.readableBytes();
            channel.writeAndFlush(new DefaultHttp2DataFrame(bytes)).addListener(done -> {
                if (done.isSuccess()) {
                    written.addAndGet(count);
                }
            });
        }

        String next() throws InterruptedException {
            return Agent.require(said.poll(20, TimeUnit.SECONDS), "no response");
        }

        boolean isOpen() {
            return channel.isActive();
        }
    }

    Stream open(Request request) throws Exception {
        CompletableFuture<Stream> opened = new CompletableFuture<>();
        Channel channel = Cast.get(new Http2StreamChannelBootstrap(connection)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        Stream own = new Stream(stream);
                        stream.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object message) {
                                if (message instanceof Http2HeadersFrame headers) {
                                    own.said.add(
                                            String.valueOf(headers.headers().status()));
                                }
                                ReferenceCountUtil.release(message);
                            }

                            @Override
                            public void channelInactive(ChannelHandlerContext ctx) {
                                own.said.add("end");
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
