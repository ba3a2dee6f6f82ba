package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.ticket.OpeningStatus;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Prints the state of a project's controlling VM, by the answers of a relay's end of a link. */
@Timeout(120)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class ProjectStatusTest extends OpenerDeviceFixture {
    private static final String ID = "b".repeat(26);
    private final Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);

    private OpeningStatus opening(TicketState state, boolean reachable, boolean working, long claimedAgo) {
        boolean ended = state == TicketState.ENDED;
        boolean runs = state == TicketState.RUNNING || ended;
        return new OpeningStatus(
                ID,
                "cat.opener." + history.id() + ".cloister.internal",
                "main",
                9,
                state,
                ended ? Optional.of(TicketEnd.NODE_FAILED) : Optional.empty(),
                "",
                state == TicketState.ACCEPTED ? 0 : 7,
                now.minusSeconds(900),
                runs ? Optional.of(now.minusSeconds(claimedAgo)) : Optional.empty(),
                ended ? Optional.of(now) : Optional.empty(),
                runs ? "h1.host.site.cloister.internal" : "",
                reachable,
                working);
    }

    private String output(String login, String... more) throws Exception {
        return ProjectFilesFixture.out(project.cli.run(words("status", login, more)));
    }

    private void state(OpeningStatus opening, String state) throws Exception {
        relay.openings(new RelayTicketMessage.Openings(9, List.of(opening)));
        assertThat(output("opener", "--output", "json")).contains("\"state\" : \"" + state + "\",\n  \"epoch\" : 9");
    }

    @Test
    void a_project_that_nobody_opened_is_closed_and_names_who_can_open_it() throws Exception {
        assertThat(output("opener"))
                .containsPattern("state +closed: ")
                .containsPattern("epoch +0\n")
                .containsPattern("openers +those certified by one of the owners: ann")
                .containsPattern("you +as cat until 20");
        assertThat(output("member")).containsPattern("you +no: an owner gives the role opener");
    }

    @Test
    void each_state_is_told_from_what_the_relay_sees() throws Exception {
        state(opening(TicketState.ACCEPTED, false, false, 0), "waiting");
        state(opening(TicketState.QUEUED, false, false, 0), "waiting");
        state(opening(TicketState.RUNNING, false, false, 5), "starting");
        state(opening(TicketState.RUNNING, true, false, 600), "locked");
        state(opening(TicketState.RUNNING, true, true, 600), "open");
        state(opening(TicketState.RUNNING, false, false, 600), "lost");
        state(opening(TicketState.ENDED, false, false, 600), "closed");
    }

    @Test
    void a_reachable_VM_says_itself_whether_it_is_locked_or_starts() throws Exception {
        OpeningStatus reachable = opening(TicketState.RUNNING, true, false, 60);
        relay.exchange().refusal = Optional.of(CloseReason.LOCKED);
        state(reachable, "locked");
        relay.exchange().refusal = Optional.of(CloseReason.STARTING);
        state(reachable, "unlocked");
        assertThat(output("member")).contains("its Local Slurm starts: try again in about a minute");
        relay.exchange().refusal = Optional.of(CloseReason.REFUSED);
        state(reachable, "open");
    }

    @Test
    void a_lost_one_says_where_it_was_and_how_long_workers_live() throws Exception {
        relay.openings(new RelayTicketMessage.Openings(
                9,
                List.of(opening(TicketState.RUNNING, false, false, 600), opening(TicketState.ENDED, false, false, 0))));
        assertThat(output("member"))
                .contains("lost: its VM does not answer; running workers continue for 8 h")
                .containsPattern("host +h1[.]host[.]site[.]cloister[.]internal since " + now.minusSeconds(600))
                .containsPattern("opened +" + now.minusSeconds(900) + " by cat[.]opener[.]")
                .containsPattern("job +7\n");
        assertThat(relay.envelopes()).as("it changes nothing").isEmpty();
    }

    @Test
    void the_document_has_all_openings() throws Exception {
        relay.openings(new RelayTicketMessage.Openings(
                9, List.of(opening(TicketState.RUNNING, true, true, 60), opening(TicketState.ENDED, false, false, 0))));
        assertThat(output("opener", "--output", "json"))
                .contains("\"workers_lease_seconds\" : 28800", "\"opener\" : \"cat\"", "\"owners\" : [ \"ann\"")
                .contains("\"host_since\" : \"" + now.minusSeconds(60) + "\"", "\"end\" : \"node-failed\"");
    }
}
