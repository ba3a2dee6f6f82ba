package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.OpeningStatus;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;

/** Tests the report of a project's openings to its members. */
@SuppressWarnings("NullAway") // set up before each
class OpeningsReportTest extends TicketFixture {
    private static List<OpeningStatus> openings(TestTicketAgent person, long epoch) throws Exception {
        person.send(new AgentTicketMessage.QueryOpenings());
        RelayTicketMessage.Openings text = person.next(RelayTicketMessage.Openings.class);
        assertThat(text.epoch()).isEqualTo(epoch);
        return text.openings();
    }

    @Test
    void how_the_openings_stand_is_told_without_a_change_of_any() throws Exception {
        TlsCredential opener = fixture.credential(fixture.site.a.name("p1", CertificateRole.OPENER));
        TlsCredential own = fixture.credential(fixture.device);
        try (TestAgent device = new TestAgent(fixture, own)) {
            TestTicketAgent person = TestTicketAgent.of(device.attachment().link(), fixture.device, own);
            assertThat(openings(person, 0)).isEmpty();
            Opening opening = person.opening(4);
            person.open(opener, opening);
            person.awaitState(opening.id(), TicketState.RUNNING);
            assertThat(openings(person, 4).get(0).host())
                    .as("no host has come for it")
                    .isEmpty();
            Instant before = Instant.now().minusSeconds(1);
            TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
            claimer.send(new AgentTicketMessage.Claim(opening.id(), job(opening.id())));
            claimer.next(RelayTicketMessage.Claimed.class);
            OpeningStatus status = openings(person, 4).get(0);
            assertThat(status.id()).isEqualTo(opening.id());
            assertThat(status.opener()).startsWith("p1.opener.");
            assertThat(status.drive()).isEqualTo("main");
            assertThat(status.state()).isEqualTo(TicketState.RUNNING);
            assertThat(status.host()).isEqualTo(RelayFixture.HOST.toString());
            assertThat(status.claimed().orElseThrow()).isBetween(before, Instant.now());
            assertThat(status.job()).isEqualTo(job(opening.id()));
            slurm.endJob(job(opening.id()), GlobalJobState.NODE_FAILED);
            assertThat(person.awaitState(opening.id(), TicketState.ENDED).end()).contains(TicketEnd.NODE_FAILED);
            OpeningStatus after = openings(person, 4).get(0);
            assertThat(after.end()).contains(TicketEnd.NODE_FAILED);
            assertThat(after.ended()).isPresent();
            assertThat(after.reachable()).isFalse();
            assertThat(after.working()).isFalse();
        }
    }
}
