package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2PingFrame;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LinkKeepAliveTest {
    private static final long PING_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long NEVER_NS = TimeUnit.HOURS.toNanos(1);

    private static EmbeddedChannel channel(boolean asks, long deadNs) {
        return new EmbeddedChannel(new LinkKeepAlive(asks, PING_NS, deadNs));
    }

    private static void until(EmbeddedChannel channel, BooleanSupplier holds) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            Thread.sleep(5);
            channel.runScheduledPendingTasks();
        }
    }

    @Test
    void the_side_that_dialled_asks_when_nothing_came() throws InterruptedException {
        EmbeddedChannel channel = channel(true, NEVER_NS);
        until(channel, () -> channel.outboundMessages().peek() instanceof Http2PingFrame);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void the_side_that_dialled_says_something_however_much_comes() throws InterruptedException {
        EmbeddedChannel channel = channel(true, NEVER_NS);
        until(channel, () -> {
            channel.writeInbound(Unpooled.EMPTY_BUFFER);
            return channel.outboundMessages().peek() instanceof Http2PingFrame;
        });
    }

    @Test
    void a_connection_from_which_nothing_comes_is_closed_by_either_side() throws InterruptedException {
        for (boolean asks : new boolean[] {true, false}) {
            EmbeddedChannel channel = channel(asks, 3 * PING_NS);
            until(channel, () -> !channel.isOpen());
        }
    }

    @Test
    void whoever_says_anything_is_alive() throws InterruptedException {
        EmbeddedChannel channel = channel(false, TimeUnit.SECONDS.toNanos(2));
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        until(channel, () -> {
            channel.writeInbound(Unpooled.EMPTY_BUFFER);
            return System.nanoTime() - endNs > 0;
        });
        assertThat(channel.isOpen()).isTrue();
    }
}
