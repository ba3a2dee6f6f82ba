package org.cloister.relay.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import com.google.protobuf.ByteString;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Ticket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // a promise of nothing is kept with null
class SharesTest {
    private final Shares shares = new Shares(new OfficeMetrics(new MetricRegistry(), ""), 1);

    @AfterEach
    void stop() {
        shares.close();
    }

    /** By one thread, which is busy until all have been asked for: their order then is no matter of time. */
    @Test
    void one_projects_flood_of_chains_delays_anothers_check_by_one_round() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        List<String> order = new ArrayList<>();
        assertThat(shares.checks().submit("somebody", 1, () -> await(busy))).isTrue();
        ByteString envelope = ByteString.copyFrom(new byte[1000]);
        PartyMessage chain = new PartyMessage.Open(List.of(envelope, envelope, envelope), envelope);
        long price = Price.of(chain, List.of());
        for (int i = 0; i < LinkLimits.PROJECT_STREAMS; i++) {
            assertThat(shares.checks().submit("flood", price, () -> order.add("flood")))
                    .isTrue();
        }
        long ticket = Price.of(new PartyMessage.Order(envelope), List.of());
        shares.checks().submit("other", ticket, () -> {
            order.add("other");
            done.countDown();
        });
        busy.countDown();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(order.indexOf("other"))
                .as("chains of the flood that came before")
                .isLessThanOrEqualTo((int) (Price.DEAREST / price) + 1);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void nothing_is_dearer_than_what_a_round_gives() {
        ByteString longest = ByteString.copyFrom(new byte[LinkLimits.FROM_PARTY_BYTES]);
        List<ByteString> chain = List.of(longest);
        for (PartyMessage each : List.of(
                new PartyMessage.Proof(chain, longest),
                new PartyMessage.Open(chain, longest),
                new PartyMessage.Close(chain, longest),
                new PartyMessage.Order(longest),
                new PartyMessage.Report("t", 0, longest),
                new PartyMessage.AskQuota())) {
            assertThat(Price.of(each, List.of()))
                    .as(each.getClass().getSimpleName())
                    .isBetween(1L, Price.DEAREST);
        }
        ByteString ordinary = ByteString.copyFrom(new byte[Ticket.MAX_BYTES / 4]);
        assertThat(Price.of(new PartyMessage.Open(chain, ordinary), chain))
                .as("with the chain that was verified on the stream before")
                .isEqualTo(Price.of(new PartyMessage.Order(ordinary), List.of()));
    }

    @Test
    void a_party_and_its_project_have_so_many_streams_and_get_others_when_they_end() {
        List<DefaultPromise<Void>> streams = new ArrayList<>();
        for (int i = 0; i < LinkLimits.TICKET_STREAMS; i++) {
            streams.add(new DefaultPromise<>(ImmediateEventExecutor.INSTANCE));
            assertThat(shares.enter("device", streams.get(i))).isTrue();
        }
        DefaultPromise<Void> more = new DefaultPromise<>(ImmediateEventExecutor.INSTANCE);
        assertThat(shares.enter("device", more)).as("one more").isFalse();
        assertThat(shares.enter("another", more)).isTrue();
        streams.get(0).setSuccess(null);
        assertThat(shares.enter("device", more)).as("one in its place").isTrue();
    }
}
