package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.link.Versions;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Devices that flood their streams of tickets. Real links and streams; each costs the relay something bounded. */
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class FloodTest {
    private static final Request TICKETS = new Request.Tickets(Versions.OURS, Optional.empty());
    private static final int QUESTIONS = 100_000;

    @TempDir
    private Path state;

    private Cast cast;
    private DeafLink deaf;

    @BeforeEach
    void serve() throws Exception {
        cast = new Cast(state);
        deaf = new DeafLink(
                cast.loops,
                cast.relay.address(),
                cast.credential(cast.device),
                Trust.inRelays(cast.beliefs).only(Cast.RELAY));
    }

    @AfterEach
    void stop() {
        deaf.close();
        cast.close();
    }

    private static ByteBuf questions(int count) {
        ByteBuf all = Unpooled.buffer();
        for (int i = 0; i < count; i++) {
            ByteBuf one = Framing.frame(new PartyMessage.AskQuota().wire());
            assertThat(one.readableBytes()).isEqualTo(6);
            all.writeBytes(one);
        }
        return all;
    }

    @Test
    void a_device_with_window_0_has_no_more_questions_read_than_may_be_unanswered() throws Exception {
        DeafLink.Stream stream = deaf.open(TICKETS);
        assertThat(stream.next()).isEqualTo("200");
        ByteBuf all = questions(QUESTIONS);
        while (all.isReadable()) {
            stream.send(all.readRetainedSlice(Math.min(600, all.readableBytes())));
        }
        // Somebody else's questions and answers meanwhile: a clock that needs no time.
        Link link = cast.link(cast.strangerDevice);
        TicketParty other = TicketParty.of(link, cast.strangerDevice, cast.credential(cast.strangerDevice));
        for (int i = 0; i < 500; i++) {
            other.say(new PartyMessage.AskQuota());
            other.next(OfficeMessage.Quota.class);
        }
        assertThat(stream.written.get())
                .as("bytes of %s questions that the relay took, or let come as far as its window", QUESTIONS)
                .isLessThan(LinkLimits.STREAM_WINDOW_BYTES + 4L * LinkLimits.FRAME_BYTES);
    }

    @Test
    void a_ninth_stream_of_tickets_is_refused_with_the_limits_status_and_no_other_partys_is() throws Exception {
        for (int i = 0; i < LinkLimits.TICKET_STREAMS; i++) {
            assertThat(deaf.open(TICKETS).next()).isEqualTo("200");
        }
        assertThat(deaf.open(TICKETS).next()).isEqualTo(Integer.toString(CloseReason.LIMIT.status()));
        Link another = cast.link(cast.strangerDevice);
        assertThat(TicketParty.of(another, cast.strangerDevice, cast.credential(cast.strangerDevice)).welcome)
                .isNotNull();
    }

    /** A host's link carries the VMs of several projects. */
    @Test
    void many_circuits_to_a_host_that_reads_slowly_are_refused_and_its_link_stays() throws Exception {
        try (DeafLink host = new DeafLink(
                cast.loops,
                cast.relay.address(),
                cast.credential(Cast.HOST),
                Trust.inRelays(cast.beliefs).only(Cast.RELAY))) {
            DeafLink.Stream attach = host.open(new Request.Attach(Versions.OURS));
            assertThat(attach.next()).isEqualTo("200");
            attach.send(Framing.frame(new AgentMessage.Attach("a host that does not read").wire()));
            attach.send(Framing.frame(new AgentMessage.Serve(cast.controller).wire()));
            while (cast.relay.registry().find(cast.controller) == null) {
                Thread.onSpinWait();
            }
            Request circuit = new Request.Circuit(Versions.OURS, cast.controller, cast.member, Cast.POLICY);
            for (int i = 0; i < LinkLimits.ATTACH_QUEUE; i++) {
                deaf.open(circuit);
            }
            assertThat(deaf.open(circuit).next()).isEqualTo(Integer.toString(CloseReason.LIMIT.status()));
            assertThat(attach.isOpen()).as("the host's link").isTrue();
        }
    }
}
