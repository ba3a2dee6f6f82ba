package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestSite;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;

/** Tickets while Slurm, the relay, hosts, the site or a disk do not do what they should. */
@SuppressWarnings("NullAway") // set up before each
class TicketFaultsTest extends TicketFixture {
    @Test
    void an_sbatch_that_answers_late_makes_one_job() throws Exception {
        slurm.answerLate(1);
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        assertThat(vm.awaitState(ticket.id(), TicketState.RUNNING).job()).isEqualTo(job(ticket.id()));
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void a_slurm_that_is_down_loses_nothing() throws Exception {
        slurm.answer(false);
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.ACCEPTED);
        TimeUnit.MILLISECONDS.sleep(600);
        slurm.answer(true);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void a_restart_of_the_relay_finds_each_ticket_where_it_is() throws Exception {
        slurm.fail("n2");
        Ticket running = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(running);
        vm.awaitState(running.id(), TicketState.RUNNING);
        Ticket queued = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(queued);
        vm.awaitState(queued.id(), TicketState.QUEUED);
        slurm.answer(false);
        Ticket accepted = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(accepted);
        vm.awaitState(accepted.id(), TicketState.ACCEPTED);

        restart();
        slurm.answer(true);
        vm.awaitState(accepted.id(), TicketState.QUEUED);
        slurm.endJob(job(running.id()), GlobalJobState.COMPLETED);
        slurm.endJob(job(accepted.id()), GlobalJobState.CANCELLED);
        assertThat(vm.awaitState(accepted.id(), TicketState.ENDED).end()).contains(TicketEnd.CANCELLED);
        vm.send(new AgentTicketMessage.QueryTicket(running.id()));
        assertThat(vm.awaitState(running.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
        vm.send(new AgentTicketMessage.QueryTicket(queued.id()));
        vm.awaitState(queued.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(3);
    }

    @Test
    void a_ticket_whose_hosts_do_not_come_ends() throws Exception {
        slurm.fail("n1");
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.NOT_STARTED);
        assertThat(slurm.jobs()).allMatch(job -> job.state() == GlobalJobState.CANCELLED);
    }

    @Test
    void tickets_of_a_project_that_the_site_withdraws_end() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        fixture.deliver(fixture.site.ended(fixture.site.a, 2));
        String id = ticket.id();
        await(() -> slurm.jobs().stream()
                .allMatch(job -> !job.ticket().equals(id) || job.state().hasEnded()));
    }

    @Test
    void a_controlling_vm_that_is_revoked_loses_its_stream_and_its_tickets() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        fixture.deliver(TestSite.list(fixture.site.a.authority, 2, controllerOwn));
        assertThat(vm.ends.poll(20, TimeUnit.SECONDS)).isNotNull();
        await(() -> slurm.jobs().stream().allMatch(job -> job.state() == GlobalJobState.CANCELLED));
        await(() -> fixture.relay.ticketLifecycle().open() == 0);
    }

    @Test
    void a_ticket_that_waits_longer_than_its_signers_certificate_has_the_newest_of_the_key() throws Exception {
        KeyPair pair = TestSite.pair(SignatureCurve.P384);
        TlsCredential first = fixture.site.credential(fixture.controller, pair, Duration.ofHours(1));
        TlsCredential renewed = fixture.site.credential(fixture.controller, pair, Duration.ofHours(20));
        TestTicketAgent early = TestTicketAgent.controller(hostLink, fixture.controller, first);
        Ticket ticket = early.ticket(TestTicketAgent.nodes(1));
        early.order(ticket);
        early.awaitState(ticket.id(), TicketState.RUNNING);
        TestTicketAgent.controller(hostLink, fixture.controller, renewed);
        TestTicketAgent.controller(hostLink, fixture.controller, first);

        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job(ticket.id())));
        byte[] leaf =
                claimer.next(RelayTicketMessage.Claimed.class).chain().get(0).toByteArray();
        assertThat(leaf).isEqualTo(renewed.chain().get(0).getEncoded());
    }

    @Test
    void a_relay_that_drains_takes_no_new_ticket_even_after_a_restart_and_old_ones_go_on() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        assertThat(fixture.relay.ticketLifecycle().drain(true).get(20, TimeUnit.SECONDS))
                .isTrue();
        restart();
        vm.order(vm.ticket(TestTicketAgent.nodes(1)));
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.DRAINING);
        vm.withdraw(ticket.id());
        vm.awaitState(ticket.id(), TicketState.ENDED);
        assertThat(fixture.relay.ticketLifecycle().drain(false).get(20, TimeUnit.SECONDS))
                .isFalse();
        Ticket next = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(next);
        vm.awaitState(next.id(), TicketState.RUNNING);
    }

    @Test
    void while_the_audit_log_cannot_be_written_no_ticket_is_taken_and_what_ends_ends() throws Exception {
        fixture.singleGroupSegments = true;
        restart();
        Ticket running = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(running);
        vm.awaitState(running.id(), TicketState.RUNNING);
        Path log = state.resolve("tiny");
        Path away = Files.move(log, state.resolve("away"));

        vm.withdraw(running.id());
        await(() -> slurm.jobs().stream().allMatch(job -> job.state() == GlobalJobState.CANCELLED));
        await(() -> !fixture.relay.ticketLifecycle().isAuditWritable());
        vm.order(vm.ticket(TestTicketAgent.nodes(1)));
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.AUDIT);

        Files.move(away, log);
        assertThat(vm.awaitState(running.id(), TicketState.ENDED).end())
                .as("told once it is in the log")
                .contains(TicketEnd.WITHDRAWN);
        Ticket next = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(next);
        vm.awaitState(next.id(), TicketState.RUNNING);
    }
}
