package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.transport.link.MessageFraming;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Long answers that a peer does not read: a stream's window is a queue that a test empties. */
@Tag("boundary")
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // of an identity only name and role are used
class UnreadAnswersTest {
    private static final int LONG = 4 << 20;
    private static final String TICKET = "a".repeat(26);

    private final TicketMetrics metrics = new TicketMetrics(new MetricRegistry(), "");
    private final TicketStreamLimits limits = new TicketStreamLimits(metrics, 1);

    /** A peer, and what the relay has written to it. */
    private final class SlowPeer {
        final Queue<Runnable> unread = new ArrayDeque<>();
        final EmbeddedChannel stream = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                unread.add(() -> ctx.writeAndFlush(message, promise));
            }
        });
        final EmbeddedChannel reader = new EmbeddedChannel(
                new MessageFraming(ProtocolLimits.RELAY_TICKET_MESSAGE_BYTES, RelayTicketMessage::read));
        final TicketPeer peer;

        SlowPeer(String project) {
            CertificateName name = new CertificateName("c", CertificateRole.CONTROLLER.toString(), project);
            CertifiedIdentity identity =
                    new CertifiedIdentity(name, CertificateRole.CONTROLLER, null, null, null, null);
            peer = new TicketPeer(stream, identity, List.of(), new MessageFlowControl(stream), limits);
        }

        void answer(int bytes) {
            peer.answer(new RelayTicketMessage.Update(
                    TICKET,
                    TicketState.RUNNING,
                    Optional.empty(),
                    "",
                    7,
                    ByteString.copyFrom(new byte[bytes]),
                    ByteString.EMPTY));
            stream.runPendingTasks();
        }

        /** Reads the next answer, as the peer does. */
        RelayTicketMessage next() {
            unread.remove().run();
            ByteBuf bytes = stream.readOutbound();
            reader.writeInbound(bytes);
            return reader.readInbound();
        }

        RelayTicketMessage last() {
            RelayTicketMessage last = next();
            while (!unread.isEmpty()) {
                last = next();
            }
            return last;
        }
    }

    @AfterEach
    void stop() {
        limits.close();
    }

    private static void requireRefused(RelayTicketMessage message) {
        assertThat(message).isInstanceOfSatisfying(RelayTicketMessage.Refused.class, refused -> {
            assertThat(refused.ticket()).isEqualTo(TICKET);
            assertThat(refused.clause()).isEqualTo(TicketClause.UNAVAILABLE);
            assertThat(refused.text())
                    .matches("an answer of 41943[0-9]{2} bytes exceeds the limit of unread bytes \\(16777216 on a"
                            + " stream, 33554432 of a project\\); read the answers and retry");
        });
    }

    @Test
    void a_stream_has_so_many_unread_bytes_and_then_refusals_and_answers_again_once_they_are_read() {
        SlowPeer slow = new SlowPeer("p");
        for (int i = 0; i < 3; i++) {
            slow.answer(LONG);
        }
        assertThat(metrics.messagesRefused.getCount())
                .as("three of the longest")
                .isZero();
        slow.answer(LONG);
        assertThat(metrics.messagesRefused.getCount()).isEqualTo(1);
        slow.answer(1000);
        assertThat(metrics.messagesRefused.getCount()).as("a short one").isEqualTo(1);
        for (int i = 0; i < 3; i++) {
            assertThat(slow.next()).isInstanceOf(RelayTicketMessage.Update.class);
        }
        requireRefused(slow.next());
        assertThat(slow.next()).isInstanceOf(RelayTicketMessage.Update.class);
        slow.answer(LONG);
        assertThat(slow.next()).as("what was refused, once all is read").isInstanceOf(RelayTicketMessage.Update.class);
        assertThat(limits.unwrittenBytes()).isZero();
    }

    @Test
    void streams_of_a_project_share_a_limit_and_another_project_does_not() {
        List<SlowPeer> readers = List.of(new SlowPeer("p"), new SlowPeer("p"), new SlowPeer("p"));
        for (int i = 0; i < 3; i++) {
            readers.forEach(slow -> slow.answer(LONG));
        }
        assertThat(metrics.messagesRefused.getCount())
                .as("9 answers of 4 MiB, of which 7 fit beside their heads")
                .isEqualTo(2);
        requireRefused(readers.get(2).last());
        SlowPeer other = new SlowPeer("q");
        other.answer(LONG);
        assertThat(other.next()).isInstanceOf(RelayTicketMessage.Update.class);
        assertThat(metrics.messagesRefused.getCount()).isEqualTo(2);
    }
}
