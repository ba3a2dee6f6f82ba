package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.OpeningStanding;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.JobState;
import org.junit.jupiter.api.Test;

/** What people of a project are told of its openings. */
@SuppressWarnings("NullAway") // set up before each
class OpeningsToldTest extends TicketStage {
    private static List<OpeningStanding> openings(TicketParty person, long epoch) throws Exception {
        person.say(new PartyMessage.AskOpenings());
        OfficeMessage.Openings said = person.next(OfficeMessage.Openings.class);
        assertThat(said.epoch()).isEqualTo(epoch);
        return said.openings();
    }

    @Test
    void how_the_openings_stand_is_told_without_a_change_of_any() throws Exception {
        Credential opener = cast.credential(cast.site.a.name("p1", Role.OPENER));
        Credential own = cast.credential(cast.device);
        try (Agent device = new Agent(cast, own)) {
            TicketParty person = TicketParty.of(device.attachment().link(), cast.device, own);
            assertThat(openings(person, 0)).isEmpty();
            Opening opening = person.opening(4);
            person.open(opener, opening);
            person.until(opening.id(), TicketState.RUNNING);
            assertThat(openings(person, 4).get(0).host())
                    .as("no host has come for it")
                    .isEmpty();
            Instant before = Instant.now().minusSeconds(1);
            TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
            claimer.say(new PartyMessage.Claim(opening.id(), job(opening.id())));
            claimer.next(OfficeMessage.Claimed.class);
            OpeningStanding standing = openings(person, 4).get(0);
            assertThat(standing.id()).isEqualTo(opening.id());
            assertThat(standing.opener()).startsWith("p1.opener.");
            assertThat(standing.drive()).isEqualTo("main");
            assertThat(standing.state()).isEqualTo(TicketState.RUNNING);
            assertThat(standing.host()).isEqualTo(Cast.HOST.toString());
            assertThat(standing.claimed().orElseThrow()).isBetween(before, Instant.now());
            assertThat(standing.job()).isEqualTo(job(opening.id()));
            slurm.end(job(opening.id()), JobState.NODE_FAILED);
            assertThat(person.until(opening.id(), TicketState.ENDED).end()).contains(TicketEnd.NODE_FAILED);
            OpeningStanding after = openings(person, 4).get(0);
            assertThat(after.end()).contains(TicketEnd.NODE_FAILED);
            assertThat(after.ended()).isPresent();
            assertThat(after.reachable()).isFalse();
            assertThat(after.working()).isFalse();
        }
    }
}
