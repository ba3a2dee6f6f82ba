package org.cloister.lab.relay;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Measures two ends that another process joins: the throughput from the first to the second, and the round-trip time of
 * a message.
 */
abstract class EndpointPair {
    private static final long LIMIT_S = 60;

    private final BlockingQueue<Long> back = new LinkedBlockingQueue<>();
    private volatile Task task = new Task(0, 0, false);

    /** Task of the ends: the second answers each message, or counts bytes. */
    private static final class Task {
        final int message;
        final boolean answering;
        final CountDownLatch done = new CountDownLatch(1);
        /** Used on the second end's event loop only. */
        long left;

        Task(long bytes, int message, boolean answering) {
            this.left = bytes;
            this.message = message;
            this.answering = answering;
        }
    }

    /** Returns the channel on which the first end writes. */
    abstract Channel first();

    /** Writes one message at the first end, on its event loop. */
    abstract void send(int bytes);

    /** Writes one message at the second end, on its event loop. */
    abstract void answer(int bytes);

    /** Returns megabytes per second from end to end. */
    final double throughput(int count, int bytes) throws InterruptedException, TimeoutException {
        Task now = new Task((long) count * bytes, bytes, false);
        task = now;
        long from = System.nanoTime();
        Writer writer = new Writer(count, bytes);
        first().eventLoop().execute(() -> {
            first().pipeline().addLast(writer);
            writer.write();
        });
        await(now.done);
        double seconds = (System.nanoTime() - from) / 1e9;
        first().pipeline().remove(writer);
        return count * (double) bytes / seconds / 1e6;
    }

    /** Returns the seconds of each round trip, one at a time. */
    final double[] roundTrips(int count, int bytes) throws InterruptedException, TimeoutException {
        task = new Task(bytes, bytes, true);
        double[] times = new double[count];
        for (int i = 0; i < count; i++) {
            long from = System.nanoTime();
            first().eventLoop().execute(() -> {
                send(bytes);
                first().flush();
            });
            Long at = back.poll(LIMIT_S, TimeUnit.SECONDS);
            if (at == null) {
                throw new TimeoutException("message " + i + " did not come back");
            }
            times[i] = (at - from) / 1e9;
        }
        return times;
    }

    static void await(CountDownLatch latch) throws InterruptedException, TimeoutException {
        if (!latch.await(LIMIT_S, TimeUnit.SECONDS)) {
            throw new TimeoutException("not within " + LIMIT_S + " s");
        }
    }

    /** Counts bytes of messages that arrived at the second end. */
    final void onSecond(int bytes) {
        Task now = task;
        now.left -= bytes;
        if (now.left == 0) {
            if (now.answering) {
                now.left = now.message;
                answer(now.message);
            } else {
                now.done.countDown();
            }
        }
    }

    /** Records that a whole message arrived at the first end. */
    final void onFirst() {
        back.add(System.nanoTime());
    }

    /** Writes while there is room. */
    private final class Writer extends ChannelInboundHandlerAdapter {
        private final int bytes;
        private int left;

        Writer(int count, int bytes) {
            this.left = count;
            this.bytes = bytes;
        }

        void write() {
            while (left > 0 && first().isWritable()) {
                left--;
                send(bytes);
                first().flush();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            write();
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ((ByteBuf) message).release();
        }
    }
}
