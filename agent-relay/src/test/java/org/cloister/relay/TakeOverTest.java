package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.JobState;
import org.cloister.relay.state.Aged;
import org.junit.jupiter.api.Test;

/** Tickets of a controlling VM that is opened anew: another key under the same name. */
@SuppressWarnings("NullAway") // set up before each
class TakeOverTest extends TicketStage {
    private Credential later;
    private TicketParty second;

    private Ticket running() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        return ticket;
    }

    /** Its host's link brings the one after it. */
    private void opensAnew(Name name) throws Exception {
        later = cast.credential(name);
        second = TicketParty.controller(hostLink, name, later);
    }

    private void revokeTheFirst() throws Exception {
        cast.relay.deliver(Site.list(cast.site.a.authority, 2, controllerOwn));
    }

    @Test
    void it_answers_for_what_was_asked_before_when_it_signs_the_same_again() throws Exception {
        Ticket ticket = running();
        opensAnew(cast.controller);
        byte[] envelope = second.takesOver(ticket, 2);
        assertThat(second.until(ticket.id(), TicketState.RUNNING).job()).isEqualTo(job(ticket.id()));
        revokeTheFirst();

        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job(ticket.id())));
        OfficeMessage.Claimed claimed = claimer.next(OfficeMessage.Claimed.class);
        assertThat(claimed.ticket().toByteArray()).isEqualTo(envelope);
        Identity signer = Chain.parse(
                        claimed.chain().stream().map(ByteString::toByteArray).toList())
                .verify(Set.of(Role.CONTROLLER), cast.beliefs.anchors(), cast.beliefs.lists(), Instant.now());
        assertThat(ClaimCheck.require(
                                SignedTicket.read(claimed.ticket().toByteArray(), signer),
                                claimed.allocation().toByteArray(),
                                relay(),
                                new ClaimCheck.Claimant(
                                        TicketParty.key(hostOwn).verificationKey(), job(ticket.id()), 0, false),
                                Instant.now())
                        .node())
                .isEqualTo("n1");

        // The relay looks each second who is believed.
        Thread.sleep(2500);
        second.say(new PartyMessage.Ask(ticket.id()));
        assertThat(second.next(OfficeMessage.Update.class).state()).isEqualTo(TicketState.RUNNING);
        slurm.end(job(ticket.id()), JobState.COMPLETED);
        assertThat(second.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
    }

    @Test
    void one_that_was_left_behind_takes_nothing_back_and_nobody_takes_over_in_its_own_life() throws Exception {
        Ticket ticket = running();
        opensAnew(cast.controller);
        second.takesOver(ticket, ticket.epoch());
        assertThat(second.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);
        byte[] envelope = second.takesOver(ticket, 3);
        second.until(ticket.id(), TicketState.RUNNING);
        vm.takesOver(ticket, 2);
        assertThat(vm.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);
        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job(ticket.id())));
        assertThat(claimer.next(OfficeMessage.Claimed.class).ticket().toByteArray())
                .isEqualTo(envelope);
    }

    @Test
    void what_it_does_not_sign_ends_with_the_one_before() throws Exception {
        Ticket ticket = running();
        opensAnew(cast.controller);
        revokeTheFirst();
        assertThat(second.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.REVOKED);
    }

    @Test
    void another_controlling_vm_of_the_project_takes_nothing_over() throws Exception {
        Ticket ticket = running();
        opensAnew(cast.site.a.name("d", Role.CONTROLLER));
        second.takesOver(ticket, 2);
        second.until(ticket.id(), TicketState.RUNNING);
        revokeTheFirst();
        // It is told nothing unasked of what another has signed.
        Thread.sleep(2500);
        second.say(new PartyMessage.Ask(ticket.id()));
        assertThat(second.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.REVOKED);
    }

    @Test
    void a_ticket_is_not_revoked_by_a_restart_for_certificates_that_came_after_it() throws Exception {
        Ticket ticket = running();
        opensAnew(cast.controller);
        second.takesOver(ticket, 2);
        second.until(ticket.id(), TicketState.RUNNING);
        host.close();
        cast.kill();
        // Before the first moment of the certificate.
        Aged.accepted(cast.database(), ticket.id(), Instant.now().minus(Duration.ofHours(30)));
        cast.relay = cast.serve(0, RelayLimits.DEFAULT);
        controllerOwn = later;
        attach();
        Thread.sleep(2500);
        vm.say(new PartyMessage.Ask(ticket.id()));
        assertThat(vm.next(OfficeMessage.Update.class).state()).isEqualTo(TicketState.RUNNING);
    }
}
