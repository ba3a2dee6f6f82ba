package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ProjectPapers;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.JobState;
import org.junit.jupiter.api.Test;

/** Tickets from the controlling VM's stream to Slurm and back. */
@SuppressWarnings("NullAway") // set up before each
class TicketOfficeTest extends TicketStage {
    @Test
    void a_ticket_becomes_a_job_its_nodes_an_allocation_and_its_end_is_told() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        byte[] envelope = vm.order(ticket);
        assertThat(vm.until(ticket.id(), TicketState.ACCEPTED).job()).isZero();
        OfficeMessage.Update running = vm.until(ticket.id(), TicketState.RUNNING);
        long job = job(ticket.id());
        assertThat(running.job()).isEqualTo(job);

        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job));
        OfficeMessage.Claimed claimed = claimer.next(OfficeMessage.Claimed.class);
        assertThat(claimed.allocation()).isEqualTo(running.allocation());
        assertThat(claimed.ticket().toByteArray()).isEqualTo(envelope);
        assertThat(claimed.project().documents()).containsExactly(ByteString.copyFrom(cast.site.a.genesis));
        assertThat(Approval.read(
                                claimed.project().approval().toByteArray(),
                                cast.beliefs.anchors().of(Name.SITE))
                        .project())
                .isEqualTo(ticket.project());
        assertThat(RevocationList.read(claimed.project().list().toByteArray(), cast.site.a.history.ownerKeys())
                        .number())
                .isEqualTo(BigInteger.ONE);
        Identity controller = Chain.parse(
                        claimed.chain().stream().map(ByteString::toByteArray).toList())
                .verify(Set.of(Role.CONTROLLER), cast.beliefs.anchors(), cast.beliefs.lists(), Instant.now());
        Slot slot = ClaimCheck.require(
                SignedTicket.read(claimed.ticket().toByteArray(), controller),
                claimed.allocation().toByteArray(),
                relay(),
                new ClaimCheck.Claimant(TicketParty.key(hostOwn).verificationKey(), job, 0, false),
                Instant.now());
        assertThat(slot.node()).isEqualTo("n1");
        assertThat(slot.host()).isEqualTo(Cast.HOST);

        byte[] part = Envelope.sign(
                        "application/vnd.in-toto+json", "{}".getBytes(StandardCharsets.UTF_8), claimer.key())
                .bytes();
        claimer.say(new PartyMessage.Report(ticket.id(), 0, ByteString.copyFrom(part)));
        assertThat(claimer.next(OfficeMessage.Reported.class).slot()).isZero();
        OfficeMessage.Part told = vm.next(OfficeMessage.Part.class);
        assertThat(told.statement().toByteArray()).isEqualTo(part);
        assertThat(Chain.parse(told.chain().stream()
                                .map(ByteString::toByteArray)
                                .toList())
                        .verify(Set.of(Role.HOST), cast.beliefs.anchors(), cast.beliefs.lists(), Instant.now())
                        .name())
                .as("a receipt shows the host by it")
                .isEqualTo(Cast.HOST);

        byte[] second = Envelope.sign(
                        "application/vnd.in-toto+json", "[]".getBytes(StandardCharsets.UTF_8), claimer.key())
                .bytes();
        claimer.say(new PartyMessage.Report(ticket.id(), 0, ByteString.copyFrom(second)));
        claimer.next(OfficeMessage.Reported.class);
        slurm.end(job, JobState.COMPLETED);
        assertThat(vm.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
        vm.say(new PartyMessage.Ask(ticket.id()));
        assertThat(vm.until(ticket.id(), TicketState.ENDED).job()).isEqualTo(job);
        assertThat(vm.next(OfficeMessage.Part.class)).isEqualTo(told);
        assertThat(vm.besides).as("news of the part that was not kept").noneMatch(OfficeMessage.Part.class::isInstance);
    }

    @Test
    void a_controlling_vm_that_knows_the_sites_keys_alone_holds_an_allocation_against_the_relays_certificate()
            throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        OfficeMessage.Update running = vm.until(ticket.id(), TicketState.RUNNING);
        Identity relay = Chain.parse(
                        vm.welcome.chain().stream().map(ByteString::toByteArray).toList())
                .verifyUnlisted(
                        Set.of(Role.RELAY),
                        Anchors.none().withSite(cast.beliefs.anchors().of(Name.SITE)),
                        Instant.now());
        assertThat(relay.name()).isEqualTo(Cast.RELAY);
        assertThat(ClaimCheck.read(running.allocation().toByteArray(), relay).ticket())
                .isEqualTo(ticket.id());
        assertThat(TicketParty.of(hostLink, Cast.HOST, hostOwn).welcome.chain())
                .as("a host's, whose link has shown it")
                .isEmpty();
    }

    @Test
    void a_host_is_given_no_slot_for_a_project_whose_documents_are_too_long_for_an_answer() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        ProjectHistory history = cast.site.a.history;
        for (long bytes = 0; bytes <= ProjectPapers.MAX_DOCUMENTS; ) {
            String payload = new String(history.successor(history.owners(), Instant.now()), StandardCharsets.UTF_8);
            String padded = payload.replaceFirst(
                    "\\{", "{\"x\":[\"" + "y".repeat(4000) + "\"" + (",\"" + "y".repeat(4000) + "\"").repeat(9) + "],");
            byte[] successor = Site.sign(
                    ProjectDocument.SUCCESSOR,
                    padded.getBytes(StandardCharsets.UTF_8),
                    cast.site.a.ann,
                    cast.site.a.ben);
            history = history.with(successor);
            cast.relay.deliver(successor);
            bytes += successor.length;
        }
        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job(ticket.id())));
        OfficeMessage.Refused refused = claimer.next(OfficeMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.LIMIT);
        assertThat(refused.text()).contains("documents of at most 1048576 bytes");
    }

    @Test
    void the_same_ticket_again_is_the_same_job_and_another_one_of_its_id_is_refused() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(1);

        Ticket other = vm.ticket(TicketParty.nodes(2));
        vm.order(new Ticket(
                ticket.id(),
                other.project(),
                other.epoch(),
                other.sequence(),
                other.issued(),
                other.expires(),
                other.request()));
        OfficeMessage.Refused refused = vm.next(OfficeMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.USED);
        assertThat(refused.ticket()).isEqualTo(ticket.id());
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void an_old_sequence_a_wrong_signer_and_a_ticket_above_the_quota_are_refused() throws Exception {
        Ticket old = vm.ticket(TicketParty.nodes(1));
        Ticket next = vm.ticket(TicketParty.nodes(1));
        vm.order(next);
        vm.until(next.id(), TicketState.ACCEPTED);
        vm.order(old);
        assertThat(vm.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);

        vm.say(new PartyMessage.Order(ByteString.copyFrom(vm.ticket(TicketParty.nodes(1))
                .sign(TicketParty.key(cast.credential(cast.controller)))
                .bytes())));
        assertThat(vm.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);

        vm.order(vm.ticket(TicketParty.nodes(5)));
        OfficeMessage.Refused quota = vm.next(OfficeMessage.Refused.class);
        assertThat(quota.clause()).isEqualTo(TicketClause.QUOTA);
        assertThat(quota.text()).contains("1 and 5 more of 4 nodes");
    }

    @Test
    void a_withdrawal_ends_a_ticket_before_and_after_it_has_nodes() throws Exception {
        slurm.fail("n1");
        slurm.fail("n2");
        Ticket waiting = vm.ticket(TicketParty.nodes(1));
        vm.order(waiting);
        vm.until(waiting.id(), TicketState.QUEUED);
        vm.withdraw(waiting.id());
        assertThat(vm.until(waiting.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
        slurm.repair("n1");
        Ticket running = vm.ticket(TicketParty.nodes(1));
        vm.order(running);
        vm.until(running.id(), TicketState.RUNNING);
        vm.withdraw(running.id());
        assertThat(vm.until(running.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
        assertThat(slurm.jobs()).allMatch(job -> job.state() == JobState.CANCELLED);
    }

    @Test
    void a_withdrawal_that_slurm_does_not_hear_ends_the_ticket_when_it_does() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        slurm.answer(false);
        vm.withdraw(ticket.id());
        vm.until(ticket.id(), TicketState.RUNNING);
        slurm.answer(true);
        assertThat(vm.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
    }

    @Test
    void a_host_that_is_faster_than_the_watch_waits_and_a_wrong_one_gets_nothing() throws Exception {
        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.ACCEPTED);
        claimer.say(new PartyMessage.Claim(ticket.id(), 1));
        claimer.next(OfficeMessage.Claimed.class);

        claimer.say(new PartyMessage.Claim(ticket.id(), 2));
        assertThat(claimer.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        Credential otherOwn = cast.credential(Cast.OTHER_HOST);
        try (Agent other = new Agent(cast, otherOwn)) {
            TicketParty thief = TicketParty.of(other.attachment().link(), Cast.OTHER_HOST, otherOwn);
            thief.say(new PartyMessage.Claim(ticket.id(), 1));
            assertThat(thief.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        }
    }

    @Test
    void a_stream_without_the_controlling_vms_key_is_closed() throws Exception {
        Credential other = cast.credential(cast.site.b.name("c", Role.CONTROLLER));
        assertThatThrownBy(() -> TicketParty.controller(hostLink, cast.controller, other))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("no welcome");
    }

    @Test
    void a_device_asks_for_its_projects_quota() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(2));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.ACCEPTED);
        Credential own = cast.credential(cast.device);
        try (Agent device = new Agent(cast, own)) {
            TicketParty person = TicketParty.of(device.attachment().link(), cast.device, own);
            person.say(new PartyMessage.AskQuota());
            OfficeMessage.Quota quota = person.next(OfficeMessage.Quota.class);
            Approval.Quota approved = Site.QUOTA;
            assertThat(quota.account()).isEqualTo("chem");
            assertThat(quota.shares())
                    .contains(
                            new OfficeMessage.Share("tickets", 1, approved.tickets()),
                            new OfficeMessage.Share("nodes", 2, approved.nodes()));
            person.order(ticket);
            assertThat(person.next(OfficeMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        }
    }

    @Test
    void an_allocation_is_what_its_relay_signed() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        OfficeMessage.Update running = vm.until(ticket.id(), TicketState.RUNNING);
        Allocation allocation = ClaimCheck.read(running.allocation().toByteArray(), relay());
        assertThat(allocation.slots()).hasSize(1);
        assertThat(allocation.vlan()).isBetween(100, 4094);
    }
}
