package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestSite;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.relay.state.AgedDatabase;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;

/** Tickets of a controlling VM that is opened anew: another key under the same name. */
@SuppressWarnings("NullAway") // set up before each
class TicketTakeOverTest extends TicketFixture {
    private TlsCredential later;
    private TestTicketAgent second;

    private Ticket running() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        return ticket;
    }

    /** Its host's link brings the one after it. */
    private void opensAnew(CertificateName name) throws Exception {
        later = fixture.credential(name);
        second = TestTicketAgent.controller(hostLink, name, later);
    }

    private void revokeTheFirst() throws Exception {
        fixture.deliver(TestSite.list(fixture.site.a.authority, 2, controllerOwn));
    }

    @Test
    void it_answers_for_what_was_asked_before_when_it_signs_the_same_again() throws Exception {
        Ticket ticket = running();
        opensAnew(fixture.controller);
        byte[] envelope = second.takesOver(ticket, 2);
        assertThat(second.awaitState(ticket.id(), TicketState.RUNNING).job()).isEqualTo(job(ticket.id()));
        revokeTheFirst();

        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job(ticket.id())));
        RelayTicketMessage.Claimed claimed = claimer.next(RelayTicketMessage.Claimed.class);
        assertThat(claimed.ticket().toByteArray()).isEqualTo(envelope);
        CertifiedIdentity signer = CertificateChain.parse(
                        claimed.chain().stream().map(ByteString::toByteArray).toList())
                .verify(
                        Set.of(CertificateRole.CONTROLLER),
                        fixture.trustStore.anchors(),
                        fixture.trustStore.lists(),
                        Instant.now());
        assertThat(AllocationVerifier.require(
                                SignedTicket.read(claimed.ticket().toByteArray(), signer),
                                claimed.allocation().toByteArray(),
                                relay(),
                                new AllocationVerifier.Claimant(
                                        TestTicketAgent.key(hostOwn).verificationKey(), job(ticket.id()), 0, false),
                                Instant.now())
                        .node())
                .isEqualTo("n1");

        // The relay looks each second who is believed.
        Thread.sleep(2500);
        second.send(new AgentTicketMessage.QueryTicket(ticket.id()));
        assertThat(second.next(RelayTicketMessage.Update.class).state()).isEqualTo(TicketState.RUNNING);
        slurm.endJob(job(ticket.id()), GlobalJobState.COMPLETED);
        assertThat(second.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
    }

    @Test
    void one_that_was_left_behind_takes_nothing_back_and_nobody_takes_over_in_its_own_life() throws Exception {
        Ticket ticket = running();
        opensAnew(fixture.controller);
        second.takesOver(ticket, ticket.epoch());
        assertThat(second.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);
        byte[] envelope = second.takesOver(ticket, 3);
        second.awaitState(ticket.id(), TicketState.RUNNING);
        vm.takesOver(ticket, 2);
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job(ticket.id())));
        assertThat(claimer.next(RelayTicketMessage.Claimed.class).ticket().toByteArray())
                .isEqualTo(envelope);
    }

    @Test
    void what_it_does_not_sign_ends_with_the_one_before() throws Exception {
        Ticket ticket = running();
        opensAnew(fixture.controller);
        revokeTheFirst();
        assertThat(second.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.REVOKED);
    }

    @Test
    void another_controlling_vm_of_the_project_takes_nothing_over() throws Exception {
        Ticket ticket = running();
        opensAnew(fixture.site.a.name("d", CertificateRole.CONTROLLER));
        second.takesOver(ticket, 2);
        second.awaitState(ticket.id(), TicketState.RUNNING);
        revokeTheFirst();
        // It is told nothing unasked of what another has signed.
        Thread.sleep(2500);
        second.send(new AgentTicketMessage.QueryTicket(ticket.id()));
        assertThat(second.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.REVOKED);
    }

    @Test
    void a_ticket_is_not_revoked_by_a_restart_for_certificates_that_came_after_it() throws Exception {
        Ticket ticket = running();
        opensAnew(fixture.controller);
        second.takesOver(ticket, 2);
        second.awaitState(ticket.id(), TicketState.RUNNING);
        host.close();
        fixture.kill();
        // Before the first moment of the certificate.
        AgedDatabase.accepted(fixture.database(), ticket.id(), Instant.now().minus(Duration.ofHours(30)));
        fixture.relay = fixture.serve(0, RelayLimits.DEFAULT);
        controllerOwn = later;
        attach();
        Thread.sleep(2500);
        vm.send(new AgentTicketMessage.QueryTicket(ticket.id()));
        assertThat(vm.next(RelayTicketMessage.Update.class).state()).isEqualTo(TicketState.RUNNING);
    }
}
