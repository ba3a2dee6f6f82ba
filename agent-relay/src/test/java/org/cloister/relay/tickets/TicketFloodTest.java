package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.ZeroWindowLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Devices that flood their streams of tickets. Real links and streams; each costs the relay something bounded. */
@Tag("boundary")
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class TicketFloodTest {
    private static final StreamRequest TICKETS = new StreamRequest.Tickets(ProtocolVersions.OURS, Optional.empty());
    private static final int QUESTIONS = 100_000;

    @TempDir
    private Path state;

    private RelayFixture fixture;
    private ZeroWindowLink deaf;

    @BeforeEach
    void serve() throws Exception {
        fixture = new RelayFixture(state);
        deaf = new ZeroWindowLink(
                fixture.loops,
                fixture.relay.address(),
                fixture.credential(fixture.device),
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY));
    }

    @AfterEach
    void stop() {
        deaf.close();
        fixture.close();
    }

    private static ByteBuf questions(int count) {
        ByteBuf all = Unpooled.buffer();
        for (int i = 0; i < count; i++) {
            ByteBuf one = MessageFraming.frame(new AgentTicketMessage.QueryQuota().wire());
            assertThat(one.readableBytes()).isEqualTo(6);
            all.writeBytes(one);
        }
        return all;
    }

    @Test
    void a_device_with_window_0_has_no_more_questions_read_than_may_be_unanswered() throws Exception {
        ZeroWindowLink.Stream stream = deaf.open(TICKETS);
        assertThat(stream.next()).isEqualTo("200");
        ByteBuf all = questions(QUESTIONS);
        while (all.isReadable()) {
            stream.send(all.readRetainedSlice(Math.min(600, all.readableBytes())));
        }
        // Somebody else's questions and answers meanwhile: a clock that needs no time.
        ClientLink link = fixture.link(fixture.otherDevice);
        TestTicketAgent other = TestTicketAgent.of(link, fixture.otherDevice, fixture.credential(fixture.otherDevice));
        for (int i = 0; i < 500; i++) {
            other.send(new AgentTicketMessage.QueryQuota());
            other.next(RelayTicketMessage.Quota.class);
        }
        assertThat(stream.written.get())
                .as("bytes of %s questions that the relay took, or let come as far as its window", QUESTIONS)
                .isLessThan(ProtocolLimits.DEVICE_STREAM_WINDOW_BYTES + 4L * ProtocolLimits.FRAME_BYTES);
    }

    @Test
    void a_ninth_stream_of_tickets_is_refused_with_the_limits_status_and_no_other_partys_is() throws Exception {
        for (int i = 0; i < ProtocolLimits.TICKET_STREAMS; i++) {
            assertThat(deaf.open(TICKETS).next()).isEqualTo("200");
        }
        assertThat(deaf.open(TICKETS).next()).isEqualTo(Integer.toString(CloseReason.LIMIT.status()));
        ClientLink another = fixture.link(fixture.otherDevice);
        assertThat(TestTicketAgent.of(another, fixture.otherDevice, fixture.credential(fixture.otherDevice)).welcome)
                .isNotNull();
    }

    private ZeroWindowLink link(CertificateName host) throws Exception {
        return new ZeroWindowLink(
                fixture.loops,
                fixture.relay.address(),
                fixture.credential(host),
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY));
    }

    private ZeroWindowLink.Stream serve(ZeroWindowLink host, CertificateName name) throws Exception {
        ZeroWindowLink.Stream attach = host.open(new StreamRequest.Attach(ProtocolVersions.OURS));
        assertThat(attach.next()).isEqualTo("200");
        attach.send(MessageFraming.frame(new AgentMessage.Attach("a host that does not read").wire()));
        attach.send(MessageFraming.frame(new AgentMessage.Serve(name).wire()));
        while (fixture.relay.registry().find(name) == null) {
            Thread.onSpinWait();
        }
        return attach;
    }

    /** A host's link carries the VMs of several projects. */
    @Test
    void many_circuits_to_a_host_that_reads_slowly_are_refused_and_its_link_stays() throws Exception {
        ProjectApproval.Quota many = new ProjectApproval.Quota(4, 64, 1 << 18, 8, 1000, 20);
        fixture.deliver(fixture.site.approval(fixture.site.a, 2, many));
        try (ZeroWindowLink host = link(RelayFixture.HOST);
                ZeroWindowLink openers = link(RelayFixture.OTHER_HOST)) {
            ZeroWindowLink.Stream attach = serve(host, fixture.controller);
            serve(openers, fixture.worker);
            StreamRequest circuit = new StreamRequest.Circuit(
                    ProtocolVersions.OURS, fixture.controller, fixture.worker, RelayFixture.POLICY);
            for (int i = 0; i < ProtocolLimits.ATTACH_QUEUE / 2; i++) {
                openers.open(circuit);
            }
            assertThat(openers.open(circuit).next()).isEqualTo(Integer.toString(CloseReason.LIMIT.status()));
            assertThat(attach.isOpen()).as("the host's link").isTrue();
        }
    }
}
