package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A circuit through a splice, of which one end writes HTTP/2's frames itself and the other may not read. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class UnreadCircuitTest {
    private static final int DATA = 0;
    private static final int SETTINGS = 4;
    private static final int UNKNOWN = 0xee;
    private static final int END_STREAM = 1;
    private static final int INITIAL_WINDOW_SIZE = 4;
    /** Of a stream's window a tenth of this is bytes. */
    private static final long UNREAD_BYTES = 8 << 20;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final BlockingQueue<Channel> requests = new LinkedBlockingQueue<>();
    private final CompletableFuture<CircuitClose> ended = new CompletableFuture<>();
    private static final int FRAME = 1000;

    private Channel server;
    private Channel dialled;
    private Http2StreamChannel opener;
    private final Reader target = new Reader();

    /** Counts what has come, which is each byte's number. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Integer> all = new CompletableFuture<>();
        private final BlockingQueue<Integer> counts = new LinkedBlockingQueue<>();
        private int count;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2DataFrame data) {
                ByteBuf bytes = data.content();
                while (bytes.isReadable()) {
                    if (bytes.readByte() != (byte) count++) {
                        all.completeExceptionally(new AssertionError("byte " + (count - 1) + " is another"));
                    }
                }
                counts.add(count);
                if (data.isEndStream()) {
                    all.complete(count);
                }
            }
            ReferenceCountUtil.release(message);
        }

        void await(int bytes) throws InterruptedException {
            for (int come = 0; come < bytes; ) {
                Integer next = counts.poll(30, TimeUnit.SECONDS);
                assertThat(next).as("bytes after %s of %s", come, bytes).isNotNull();
                come = next;
            }
        }
    }

    @BeforeEach
    void splice() throws Exception {
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        LinkCodec.server(channel.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline().addLast(new First());
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        dialled = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        LinkCodec.client(channel.pipeline(), LinkStreams.MACHINE);
                    }
                })
                .connect(server.localAddress())
                .sync()
                .channel();
        CompletableFuture<Void> answered = new CompletableFuture<>();
        opener = open(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ReferenceCountUtil.release(message);
                answered.complete(null);
            }
        });
        Channel one = requests.take();
        open(target);
        CircuitSplice.Limits limits = new CircuitSplice.Limits(Duration.ofHours(1), Duration.ofHours(1));
        new CircuitSplice(one, requests.take(), limits, bytes -> {}, ended::complete)
                .start(UnreadCircuitTest::accept, UnreadCircuitTest::accept);
        answered.get(30, TimeUnit.SECONDS);
    }

    @AfterEach
    void endpoint() {
        dialled.close().syncUninterruptibly();
        server.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Waits for both streams. */
    private final class First extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2HeadersFrame) {
                requests.add(ctx.channel());
            }
            ReferenceCountUtil.release(message);
        }
    }

    private static void accept(Channel stream) {
        stream.pipeline().remove(First.class);
        StreamResponse.accept(stream, 1);
    }

    /** @return when its response has come */
    private Http2StreamChannel open(ChannelInboundHandlerAdapter reader) throws Exception {
        CertificateName name = new CertificateName("c", "controller", "a".repeat(52));
        Http2StreamChannel stream =
                new Http2StreamChannelBootstrap(dialled).handler(reader).open().get();
        StreamRequest request = new StreamRequest.Circuit(ProtocolVersions.OURS, name, name, Digest.sha384("policy"));
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(request.headers(), false))
                .sync();
        return stream;
    }

    /** So many frames, past the codec. */
    private void write(int frames, int type, int lastFlags, int length, int first) {
        ByteBuf all = Unpooled.buffer(frames * (9 + length));
        for (int i = 0; i < frames; i++) {
            all.writeMedium(length).writeByte(type).writeByte(i == frames - 1 ? lastFlags : 0);
            all.writeInt(opener.stream().id());
            for (int each = 0; each < length; each++) {
                all.writeByte(first++);
            }
        }
        raw(all);
    }

    private void raw(ByteBuf bytes) {
        dialled.pipeline().firstContext().writeAndFlush(bytes).syncUninterruptibly();
    }

    /** What the dialled side may write on each stream. */
    private void window(int bytes) {
        raw(Unpooled.buffer()
                .writeMedium(6)
                .writeByte(SETTINGS)
                .writeByte(0)
                .writeInt(0)
                .writeShort(INITIAL_WINDOW_SIZE)
                .writeInt(bytes));
    }

    private static long heap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /** Everything that was written before has been heard. */
    private void settle() throws Exception {
        Channel after = open(new ChannelInboundHandlerAdapter());
        assertThat(requests.poll(30, TimeUnit.SECONDS)).isNotNull();
        after.close();
    }

    @Test
    void a_window_of_frames_of_one_byte_that_nobody_takes_costs_little_more_than_its_bytes() throws Exception {
        window(0);
        settle();
        long before = heap();
        write(ProtocolLimits.STREAM_WINDOW_BYTES, DATA, END_STREAM, 1, 0);
        settle();
        assertThat(heap() - before).isLessThan(UNREAD_BYTES);
        window(ProtocolLimits.STREAM_WINDOW_BYTES);
        assertThat(target.all.get(60, TimeUnit.SECONDS)).isEqualTo(ProtocolLimits.STREAM_WINDOW_BYTES);
    }

    @Test
    void what_was_handed_on_opens_the_window_again() throws Exception {
        // The window is announced again when half of it was read.
        int frames = ProtocolLimits.STREAM_WINDOW_BYTES / 2 / FRAME;
        int all = 0;
        for (int i = 0; i < 300; i++) {
            write(frames, DATA, 0, FRAME, all);
            all += frames * FRAME;
            target.await(all);
        }
        assertThat(ended).isNotDone();
    }

    @Test
    void frames_that_nobody_knows_are_dropped_and_the_circuit_goes_on() throws Exception {
        write(1, DATA, 0, 1, 0);
        write(100, UNKNOWN, 0, 1000, 0);
        write(1, DATA, END_STREAM, 1, 1);
        assertThat(target.all.get(30, TimeUnit.SECONDS)).isEqualTo(2);
    }
}
