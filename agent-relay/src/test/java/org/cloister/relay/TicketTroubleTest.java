package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.JobState;
import org.junit.jupiter.api.Test;

/** Tickets while Slurm, the relay, hosts, the site or a disk do not do what they should. */
@SuppressWarnings("NullAway") // set up before each
class TicketTroubleTest extends TicketStage {
    @Test
    void an_sbatch_that_answers_late_makes_one_job() throws Exception {
        slurm.answerLate(1);
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        assertThat(vm.until(ticket.id(), TicketState.RUNNING).job()).isEqualTo(job(ticket.id()));
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void a_slurm_that_is_down_loses_nothing() throws Exception {
        slurm.answer(false);
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.ACCEPTED);
        TimeUnit.MILLISECONDS.sleep(600);
        slurm.answer(true);
        vm.until(ticket.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void a_restart_of_the_relay_finds_each_ticket_where_it_is() throws Exception {
        slurm.fail("n2");
        Ticket running = vm.ticket(TicketParty.nodes(1));
        vm.order(running);
        vm.until(running.id(), TicketState.RUNNING);
        Ticket queued = vm.ticket(TicketParty.nodes(1));
        vm.order(queued);
        vm.until(queued.id(), TicketState.QUEUED);
        slurm.answer(false);
        Ticket accepted = vm.ticket(TicketParty.nodes(1));
        vm.order(accepted);
        vm.until(accepted.id(), TicketState.ACCEPTED);

        restart();
        slurm.answer(true);
        vm.until(accepted.id(), TicketState.QUEUED);
        slurm.end(job(running.id()), JobState.COMPLETED);
        slurm.end(job(accepted.id()), JobState.CANCELLED);
        assertThat(vm.until(accepted.id(), TicketState.ENDED).end()).contains(TicketEnd.CANCELLED);
        vm.say(new PartyMessage.Ask(running.id()));
        assertThat(vm.until(running.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
        vm.say(new PartyMessage.Ask(queued.id()));
        vm.until(queued.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(3);
    }

    @Test
    void a_ticket_whose_hosts_do_not_come_ends() throws Exception {
        slurm.fail("n1");
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        assertThat(vm.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.NOT_STARTED);
        assertThat(slurm.jobs()).allMatch(job -> job.state() == JobState.CANCELLED);
    }

    @Test
    void tickets_of_a_project_that_the_site_withdraws_end() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        cast.relay.deliver(cast.site.ended(cast.site.a, 2));
        String id = ticket.id();
        await(() -> slurm.jobs().stream()
                .allMatch(job -> !job.ticket().equals(id) || job.state().hasEnded()));
    }

    @Test
    void a_controlling_vm_that_is_revoked_loses_its_stream_and_its_tickets() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        cast.relay.deliver(Site.list(cast.site.a.authority, 2, controllerOwn));
        assertThat(vm.ends.poll(20, TimeUnit.SECONDS)).isNotNull();
        await(() -> slurm.jobs().stream().allMatch(job -> job.state() == JobState.CANCELLED));
        await(() -> cast.relay.office().open() == 0);
    }

    @Test
    void a_ticket_that_waits_longer_than_its_signers_certificate_has_the_newest_of_the_key() throws Exception {
        KeyPair pair = Site.pair(Curve.P384);
        Credential first = cast.site.credential(cast.controller, pair, Duration.ofHours(1));
        Credential renewed = cast.site.credential(cast.controller, pair, Duration.ofHours(20));
        TicketParty early = TicketParty.controller(hostLink, cast.controller, first);
        Ticket ticket = early.ticket(TicketParty.nodes(1));
        early.order(ticket);
        early.until(ticket.id(), TicketState.RUNNING);
        TicketParty.controller(hostLink, cast.controller, renewed);
        TicketParty.controller(hostLink, cast.controller, first);

        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job(ticket.id())));
        byte[] leaf = claimer.next(OfficeMessage.Claimed.class).chain().get(0).toByteArray();
        assertThat(leaf).isEqualTo(renewed.chain().get(0).getEncoded());
    }

    @Test
    void a_relay_that_drains_takes_no_new_ticket_even_after_a_restart_and_old_ones_go_on() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        assertThat(cast.relay.office().drain(true).get(20, TimeUnit.SECONDS)).isTrue();
        restart();
        vm.order(vm.ticket(TicketParty.nodes(1)));
        assertThat(vm.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.DRAINING);
        vm.withdraw(ticket.id());
        vm.until(ticket.id(), TicketState.ENDED);
        assertThat(cast.relay.office().drain(false).get(20, TimeUnit.SECONDS)).isFalse();
        Ticket next = vm.ticket(TicketParty.nodes(1));
        vm.order(next);
        vm.until(next.id(), TicketState.RUNNING);
    }

    @Test
    void while_the_audit_log_cannot_be_written_no_ticket_is_taken_and_what_ends_ends() throws Exception {
        cast.tinySegments = true;
        restart();
        Ticket running = vm.ticket(TicketParty.nodes(1));
        vm.order(running);
        vm.until(running.id(), TicketState.RUNNING);
        Path log = state.resolve("tiny");
        Path away = Files.move(log, state.resolve("away"));

        vm.withdraw(running.id());
        await(() -> slurm.jobs().stream().allMatch(job -> job.state() == JobState.CANCELLED));
        await(() -> !cast.relay.office().isAuditWritable());
        vm.order(vm.ticket(TicketParty.nodes(1)));
        assertThat(vm.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.AUDIT);

        Files.move(away, log);
        assertThat(vm.until(running.id(), TicketState.ENDED).end())
                .as("told once it is in the log")
                .contains(TicketEnd.WITHDRAWN);
        Ticket next = vm.ticket(TicketParty.nodes(1));
        vm.order(next);
        vm.until(next.id(), TicketState.RUNNING);
    }
}
