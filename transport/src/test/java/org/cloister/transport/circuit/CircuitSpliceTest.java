package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.link.StreamRequest;
import org.junit.jupiter.api.Test;

class CircuitSpliceTest {
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofMillis(20);

    private final EmbeddedChannel opener = new EmbeddedChannel();
    private final EmbeddedChannel target = new EmbeddedChannel();
    private final List<CircuitClose> ends = new ArrayList<>();

    private void awaitEnd(CircuitSplice.Limits limits) throws InterruptedException {
        new CircuitSplice(opener, target, limits, bytes -> {}, ends::add).start(side -> {}, side -> {});
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (ends.isEmpty() || opener.isOpen() || target.isOpen()) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            for (EmbeddedChannel each : List.of(opener, target)) {
                each.runPendingTasks();
                each.runScheduledPendingTasks();
            }
            Thread.sleep(5);
        }
    }

    private static String written(EmbeddedChannel side) {
        Http2HeadersFrame trailers = side.readOutbound();
        return String.valueOf(trailers.headers().get(StreamRequest.CLOSE));
    }

    @Test
    void a_circuit_lives_no_longer_than_a_certificate_and_both_sides_hear_it() throws InterruptedException {
        awaitEnd(new CircuitSplice.Limits(NEVER, SOON));
        assertThat(ends).containsExactly(CircuitClose.byRelay(CloseReason.TOTAL));
        assertThat(written(opener)).isEqualTo("relay total");
        assertThat(written(target)).isEqualTo("relay total");
    }

    @Test
    void a_circuit_through_which_nothing_passes_ends() throws InterruptedException {
        awaitEnd(new CircuitSplice.Limits(SOON, NEVER));
        assertThat(ends).containsExactly(CircuitClose.byRelay(CloseReason.IDLE));
        assertThat(written(opener)).isEqualTo("relay idle");
    }
}
