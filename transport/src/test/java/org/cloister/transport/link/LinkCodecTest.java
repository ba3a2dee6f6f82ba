package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bounds of a link for all its streams together, on either side. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class LinkCodecTest {
    private static final int MOVING_BYTES = 3_000_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, LocalIoHandler.newFactory());
    /** The dialled side's streams, in the order in which they were opened. */
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    private final Queue<Channel> streams = new ConcurrentLinkedQueue<>();
    private Channel dialled;
    private volatile LinkStreams limits;

    @AfterEach
    void stop() {
        // What a stream holds unread outlives its connection.
        streams.forEach(stream -> stream.close().syncUninterruptibly());
        dialled.close().syncUninterruptibly();
        // The other side closes on its own loop.
        loops.shutdownGracefully(100, 5000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }

    @ParameterizedTest
    @EnumSource
    void streams_that_the_dialled_side_does_not_read_take_nothing_from_the_last(LinkStreams kind) throws Exception {
        limits = kind;
        Channel dialler = dial(true);
        for (int i = 1; i < kind.count(); i++) {
            fill(open(dialler, false));
        }
        Channel last = open(dialler, false);
        for (int i = 1; i < kind.count(); i++) {
            accepted();
        }
        move(last, accepted());
    }

    @ParameterizedTest
    @EnumSource
    void streams_that_the_dialler_does_not_read_take_nothing_from_the_last(LinkStreams kind) throws Exception {
        limits = kind;
        Channel dialler = dial(false);
        for (int i = 1; i < kind.count(); i++) {
            open(dialler, true);
            Channel unread = accepted();
            answer(unread);
            fill(unread);
        }
        Channel reader = open(dialler, true);
        Channel last = accepted();
        answer(last);
        move(last, reader);
    }

    private Channel dial(boolean held) throws Exception {
        Channel server = new ServerBootstrap()
                .group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        LinkCodec.server(connection.pipeline(), limits, new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.config().setAutoRead(!held);
                                streams.add(stream);
                                accepted.add(stream);
                            }
                        });
                    }
                })
                .bind(new LocalAddress(LinkCodecTest.class))
                .sync()
                .channel();
        dialled = new Bootstrap()
                .group(loops)
                .channel(LocalChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        LinkCodec.client(connection.pipeline(), limits);
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
        return dialled;
    }

    private Channel open(Channel dialler, boolean held) throws Exception {
        Channel stream = new Http2StreamChannelBootstrap(dialler)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel opening) {
                        streams.add(opening);
                        opening.config().setAutoRead(!held);
                    }
                })
                .open()
                .get(20, TimeUnit.SECONDS);
        done(stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                new DefaultHttp2Headers().method("POST").scheme("https").path("/attach"))));
        return stream;
    }

    private Channel accepted() throws InterruptedException {
        Channel stream = accepted.poll(20, TimeUnit.SECONDS);
        assertThat(stream).as("a stream at the dialled side").isNotNull();
        return stream;
    }

    private static void answer(Channel stream) throws Exception {
        done(stream.writeAndFlush(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200"))));
    }

    /** Its whole window, and what the connection lets pass of it is all of it. */
    private void fill(Channel sender) throws Exception {
        done(sender.writeAndFlush(data(limits.window())));
    }

    private void move(Channel sender, Channel reader) throws Exception {
        CountDownLatch missing = new CountDownLatch(MOVING_BYTES);
        reader.eventLoop().execute(() -> {
            reader.pipeline().addLast(new Counting(missing));
            reader.config().setAutoRead(true);
        });
        sender.writeAndFlush(data(MOVING_BYTES));
        missing.await(20, TimeUnit.SECONDS);
        assertThat(missing.getCount()).as("bytes that did not come").isZero();
    }

    private static DefaultHttp2DataFrame data(int bytes) {
        return new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(new byte[bytes]));
    }

    private static void done(ChannelFuture write) throws Exception {
        write.get(20, TimeUnit.SECONDS);
    }

    private static final class Counting extends ChannelInboundHandlerAdapter {
        private final CountDownLatch missing;

        Counting(CountDownLatch missing) {
            this.missing = missing;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2DataFrame data) {
                for (int i = 0; i < data.content().readableBytes(); i++) {
                    missing.countDown();
                }
            }
            ReferenceCountUtil.release(message);
        }
    }
}
