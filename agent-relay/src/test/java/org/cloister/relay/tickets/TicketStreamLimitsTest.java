package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import com.google.protobuf.ByteString;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
@SuppressWarnings("NullAway") // a promise of nothing is kept with null
class TicketStreamLimitsTest {
    private final TicketStreamLimits shares = new TicketStreamLimits(new TicketMetrics(new MetricRegistry(), ""), 1);

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
        AgentTicketMessage chain = new AgentTicketMessage.Open(List.of(envelope, envelope, envelope), envelope);
        long cost = MessageCost.of(chain, List.of());
        for (int i = 0; i < ProtocolLimits.PROJECT_STREAMS; i++) {
            assertThat(shares.checks().submit("flood", cost, () -> order.add("flood")))
                    .isTrue();
        }
        long ticket = MessageCost.of(new AgentTicketMessage.Submit(envelope), List.of());
        shares.checks().submit("other", ticket, () -> {
            order.add("other");
            done.countDown();
        });
        busy.countDown();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(order.indexOf("other"))
                .as("chains of the flood that came before")
                .isLessThanOrEqualTo((int) (MessageCost.HIGHEST / cost) + 1);
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
        ByteString longest = ByteString.copyFrom(new byte[ProtocolLimits.AGENT_TICKET_MESSAGE_BYTES]);
        List<ByteString> chain = List.of(longest);
        for (AgentTicketMessage each : List.of(
                new AgentTicketMessage.Proof(chain, longest),
                new AgentTicketMessage.Open(chain, longest),
                new AgentTicketMessage.Close(chain, longest),
                new AgentTicketMessage.Submit(longest),
                new AgentTicketMessage.Report("t", 0, longest),
                new AgentTicketMessage.QueryQuota())) {
            assertThat(MessageCost.of(each, List.of()))
                    .as(each.getClass().getSimpleName())
                    .isBetween(1L, MessageCost.HIGHEST);
        }
        ByteString ordinary = ByteString.copyFrom(new byte[Ticket.MAX_BYTES / 4]);
        assertThat(MessageCost.of(new AgentTicketMessage.Open(chain, ordinary), chain))
                .as("with the chain that was verified on the stream before")
                .isEqualTo(MessageCost.of(new AgentTicketMessage.Submit(ordinary), List.of()));
    }

    @Test
    void a_party_and_its_project_have_so_many_streams_and_get_others_when_they_end() {
        List<DefaultPromise<Void>> streams = new ArrayList<>();
        for (int i = 0; i < ProtocolLimits.TICKET_STREAMS; i++) {
            streams.add(new DefaultPromise<>(ImmediateEventExecutor.INSTANCE));
            assertThat(shares.acquireStream("device", streams.get(i))).isTrue();
        }
        DefaultPromise<Void> more = new DefaultPromise<>(ImmediateEventExecutor.INSTANCE);
        assertThat(shares.acquireStream("device", more)).as("one more").isFalse();
        assertThat(shares.acquireStream("another", more)).isTrue();
        streams.get(0).setSuccess(null);
        assertThat(shares.acquireStream("device", more)).as("one in its place").isTrue();
    }
}
