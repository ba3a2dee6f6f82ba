package org.cloister.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A terminal in raw mode is a character device whose reads and writes block as a port's do. */
@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class DeviceChannelTest {
    private static final int BYTES = 6_000_000;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    @TempDir
    private Path folder;

    private PtyPort port;
    private SocketChannel host;

    @BeforeEach
    void start() throws Exception {
        port = PtyPort.open(folder);
        host = SocketChannel.open(UnixDomainSocketAddress.of(port.socket()));
    }

    @AfterEach
    void stop() throws Exception {
        host.close();
        port.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static final class Counter extends ChannelInboundHandlerAdapter {
        final AtomicLong read = new AtomicLong();
        final AtomicLong sum = new AtomicLong();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            read.addAndGet(bytes.readableBytes());
            while (bytes.isReadable()) {
                sum.set(sum.get() * 31 + bytes.readByte());
            }
            bytes.release();
        }
    }

    private static long sum(byte[] bytes) {
        long sum = 0;
        for (byte each : bytes) {
            sum = sum * 31 + each;
        }
        return sum;
    }

    private static void await(AtomicLong value, long expected) throws InterruptedException {
        for (int i = 0; i < 4000 && value.get() < expected; i++) {
            Thread.sleep(10);
        }
        assertThat(value.get()).isEqualTo(expected);
    }

    @Test
    void every_byte_comes_once_and_in_order_both_ways_at_once() throws Exception {
        DeviceChannel device = DeviceChannel.open(port.device());
        Counter counter = new Counter();
        device.pipeline().addLast(counter);
        loops.register(device).sync();
        byte[] down = new byte[BYTES];
        byte[] up = new byte[BYTES];
        new Random(1).nextBytes(down);
        new Random(2).nextBytes(up);
        CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(() -> read(BYTES));
        for (int at = 0; at < BYTES; at += 1000) {
            device.write(Unpooled.wrappedBuffer(up, at, 1000));
            device.write(Unpooled.EMPTY_BUFFER);
        }
        device.flush();
        ByteBuffer all = ByteBuffer.wrap(down);
        while (all.hasRemaining()) {
            host.write(all);
        }
        await(counter.read, BYTES);
        assertThat(counter.sum.get()).isEqualTo(sum(down));
        assertThat(Arrays.equals(received.get(40, TimeUnit.SECONDS), up)).isTrue();
        device.close().sync();
    }

    private byte[] read(int bytes) {
        try {
            ByteBuffer all = ByteBuffer.allocate(bytes);
            while (all.hasRemaining() && host.read(all) >= 0) {
                // on
            }
            return all.array();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void who_does_not_read_leaves_all_but_the_cap_in_the_device() throws Exception {
        DeviceThreads threads = DeviceThreads.open(port.device());
        threads.start(() -> {}, written -> {});
        ByteBuffer all = ByteBuffer.allocate(BYTES);
        while (all.hasRemaining()) {
            host.write(all);
        }
        int most = ProtocolLimits.CHANNEL_UNREAD_BYTES;
        for (int i = 0; i < 4000 && threads.unreadBytes() <= most - DeviceThreads.PIECE_BYTES; i++) {
            Thread.sleep(10);
        }
        Thread.sleep(200);
        assertThat(threads.unreadBytes()).isBetween(most - DeviceThreads.PIECE_BYTES, most);
        long read = 0;
        for (int i = 0; i < 40_000 && read < BYTES; i++) {
            byte[] piece = threads.poll();
            if (piece == null) {
                Thread.sleep(1);
            } else {
                read += piece.length;
                assertThat(threads.unreadBytes()).isLessThanOrEqualTo(most);
            }
        }
        assertThat(read).isEqualTo(BYTES);
        threads.close();
    }

    @Test
    void a_writer_that_is_blocked_holds_the_channel_back_and_ends_with_it() throws Exception {
        DeviceChannel device = DeviceChannel.open(port.device());
        loops.register(device).sync();
        var last = device.newPromise();
        for (int i = 0; i < 200; i++) {
            last = device.newPromise();
            device.writeAndFlush(Unpooled.wrappedBuffer(new byte[1 << 16]), last);
        }
        assertThat(last.await(500)).isFalse();
        assertThat(device.isWritable()).isFalse();
        device.close().sync();
        assertThat(last.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(last.isSuccess()).isFalse();
        for (int i = 0; i < 1000 && threadsOf(port.device()) > 0; i++) {
            Thread.sleep(10);
        }
        assertThat(threadsOf(port.device())).isZero();
    }

    private static long threadsOf(Path device) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(device.getFileName() + " "))
                .count();
    }
}
