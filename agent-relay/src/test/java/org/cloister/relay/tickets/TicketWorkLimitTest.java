package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.relay.links.RelayFixture;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Devices of one project that ask for more work than a project has. Real links, streams and checks. */
@Tag("boundary")
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class TicketWorkLimitTest {
    private static final String METRIC = "cloister.relay.ticket.messages.refused";
    private static final int DEVICES = 5;
    /** Of a stream: all streams together ask for the burst, and for more than the work of {@code work-time} twice. */
    private static final int MESSAGES = 3;

    @TempDir
    private Path state;

    private RelayFixture fixture;

    @BeforeEach
    void serve() throws Exception {
        fixture = new RelayFixture(state);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    private List<TestTicketAgent> streams() throws Exception {
        List<TestTicketAgent> streams = new ArrayList<>();
        for (int device = 0; device < DEVICES; device++) {
            CertificateName name = fixture.site.a.name("d" + device, CertificateRole.DEVICE);
            TlsCredential own = fixture.credential(name);
            ClientLink link = fixture.link(name);
            for (int i = 0; i < ProtocolLimits.TICKET_STREAMS; i++) {
                streams.add(TestTicketAgent.of(link, name, own));
            }
        }
        return streams;
    }

    @Test
    void a_message_that_waited_too_long_for_its_turn_is_refused_with_the_limit_and_counted() throws Exception {
        List<TestTicketAgent> streams = streams();
        TestTicketAgent other = TestTicketAgent.of(
                fixture.link(fixture.otherDevice), fixture.otherDevice, fixture.credential(fixture.otherDevice));
        assertThat(refused()).isZero();
        ByteString junk = ByteString.copyFrom(new byte[Ticket.MAX_BYTES]);
        AgentTicketMessage dear = new AgentTicketMessage.Open(List.of(junk), junk);
        assertThat(MessageCost.of(dear, List.of())).isEqualTo(MessageCost.HIGHEST);
        for (int i = 0; i < MESSAGES; i++) {
            streams.forEach(stream -> stream.send(dear));
        }
        List<RelayTicketMessage.Refused> late = new ArrayList<>();
        while (late.isEmpty()) {
            other.send(new AgentTicketMessage.QueryQuota());
            other.next(RelayTicketMessage.Quota.class);
            for (TestTicketAgent stream : streams) {
                stream.received.stream()
                        .map(RelayTicketMessage.Refused.class::cast)
                        .filter(refused -> refused.clause() != TicketClause.SIGNATURE)
                        .forEach(late::add);
            }
        }
        assertThat(late).allSatisfy(refused -> {
            assertThat(refused.clause()).isEqualTo(TicketClause.UNAVAILABLE);
            assertThat(refused.text())
                    .isEqualTo(fixture.site.a.id() + " requests more than 400 units of work a second, and this"
                            + " request waited for 5 s; nothing was changed: retry more slowly");
        });
        assertThat(refused()).isPositive();
        assertThat(streams).as("none has ended").allMatch(stream -> stream.ends.isEmpty());
        assertThat(other.besides)
                .as("what another project's device received besides")
                .isEmpty();
    }

    private long refused() {
        return fixture.metrics.registry().counter(METRIC).getCount();
    }
}
