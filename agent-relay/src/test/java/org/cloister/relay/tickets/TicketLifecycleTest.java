package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.HostFaultCode;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.links.TestSite;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;

/** Tickets from the controlling VM's stream to Slurm and back. */
@SuppressWarnings("NullAway") // set up before each
class TicketLifecycleTest extends TicketFixture {
    private void verifyProject(RelayTicketMessage.Claimed claimed, Ticket ticket) throws Exception {
        assertThat(ProjectApproval.read(
                                claimed.project().approval().toByteArray(),
                                fixture.trustStore.anchors().of(CertificateName.SITE))
                        .project())
                .isEqualTo(ticket.project());
        assertThat(RevocationList.read(claimed.project().list().toByteArray(), fixture.site.a.history.ownerKeys())
                        .number())
                .isEqualTo(BigInteger.ONE);
    }

    private CertifiedIdentity controllerOf(RelayTicketMessage.Claimed claimed) throws Exception {
        return CertificateChain.parse(
                        claimed.chain().stream().map(ByteString::toByteArray).toList())
                .verify(
                        Set.of(CertificateRole.CONTROLLER),
                        fixture.trustStore.anchors(),
                        fixture.trustStore.lists(),
                        Instant.now());
    }

    @Test
    void a_ticket_becomes_a_job_its_nodes_an_allocation_and_its_end_is_told() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        byte[] envelope = vm.order(ticket);
        assertThat(vm.awaitState(ticket.id(), TicketState.ACCEPTED).job()).isZero();
        RelayTicketMessage.Update running = vm.awaitState(ticket.id(), TicketState.RUNNING);
        long job = job(ticket.id());
        assertThat(running.job()).isEqualTo(job);

        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job));
        RelayTicketMessage.Claimed claimed = claimer.next(RelayTicketMessage.Claimed.class);
        assertThat(claimed.allocation()).isEqualTo(running.allocation());
        assertThat(claimed.ticket().toByteArray()).isEqualTo(envelope);
        assertThat(claimed.project().documents()).containsExactly(ByteString.copyFrom(fixture.site.a.genesis));
        verifyProject(claimed, ticket);
        CertifiedIdentity controller = controllerOf(claimed);
        AllocatedSlot slot = AllocationVerifier.require(
                SignedTicket.read(claimed.ticket().toByteArray(), controller),
                claimed.allocation().toByteArray(),
                relay(),
                new AllocationVerifier.Claimant(TestTicketAgent.key(hostOwn).verificationKey(), job, 0, false),
                Instant.now());
        assertThat(slot.node()).isEqualTo("n1");
        assertThat(slot.host()).isEqualTo(RelayFixture.HOST);

        claimer.send(new AgentTicketMessage.HostFault(ticket.id(), HostFaultCode.HOST, "scratch"));
        assertThat(vm.next(RelayTicketMessage.HostFault.class))
                .isEqualTo(new RelayTicketMessage.HostFault(
                        ticket.id(), slot.slot(), HostFaultCode.HOST, "scratch", RelayFixture.HOST.id()));

        byte[] part = DsseEnvelope.sign(
                        "application/vnd.in-toto+json", "{}".getBytes(StandardCharsets.UTF_8), claimer.key())
                .bytes();
        claimer.send(new AgentTicketMessage.Report(ticket.id(), 0, ByteString.copyFrom(part)));
        assertThat(claimer.next(RelayTicketMessage.StatementStored.class).slot())
                .isZero();
        RelayTicketMessage.ForwardedStatement notified = vm.next(RelayTicketMessage.ForwardedStatement.class);
        assertThat(notified.statement().toByteArray()).isEqualTo(part);
        assertThat(CertificateChain.parse(notified.chain().stream()
                                .map(ByteString::toByteArray)
                                .toList())
                        .verify(
                                Set.of(CertificateRole.HOST),
                                fixture.trustStore.anchors(),
                                fixture.trustStore.lists(),
                                Instant.now())
                        .name())
                .as("a receipt shows the host by it")
                .isEqualTo(RelayFixture.HOST);

        byte[] second = DsseEnvelope.sign(
                        "application/vnd.in-toto+json", "[]".getBytes(StandardCharsets.UTF_8), claimer.key())
                .bytes();
        claimer.send(new AgentTicketMessage.Report(ticket.id(), 0, ByteString.copyFrom(second)));
        claimer.next(RelayTicketMessage.StatementStored.class);
        slurm.endJob(job, GlobalJobState.COMPLETED);
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
        vm.send(new AgentTicketMessage.QueryTicket(ticket.id()));
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).job()).isEqualTo(job);
        assertThat(vm.next(RelayTicketMessage.ForwardedStatement.class)).isEqualTo(notified);
        assertThat(vm.besides)
                .as("news of the part that was not kept")
                .noneMatch(RelayTicketMessage.ForwardedStatement.class::isInstance);
    }

    @Test
    void a_controlling_vm_that_knows_the_sites_keys_alone_holds_an_allocation_against_the_relays_certificate()
            throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        RelayTicketMessage.Update running = vm.awaitState(ticket.id(), TicketState.RUNNING);
        CertifiedIdentity relay = CertificateChain.parse(
                        vm.welcome.chain().stream().map(ByteString::toByteArray).toList())
                .verifyUnlisted(
                        Set.of(CertificateRole.RELAY),
                        TrustAnchors.none()
                                .withSite(fixture.trustStore.anchors().of(CertificateName.SITE)),
                        Instant.now());
        assertThat(relay.name()).isEqualTo(RelayFixture.RELAY);
        assertThat(AllocationVerifier.read(running.allocation().toByteArray(), relay)
                        .ticket())
                .isEqualTo(ticket.id());
        assertThat(TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn)
                        .welcome
                        .chain())
                .as("a host's, whose link has shown it")
                .isEmpty();
    }

    @Test
    void a_host_is_given_no_slot_for_a_project_whose_documents_are_too_long_for_an_answer() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        ProjectHistory history = fixture.site.a.history;
        for (long bytes = 0; bytes <= ProjectTrustBundle.MAX_DOCUMENTS; ) {
            String payload = new String(history.successor(history.owners(), Instant.now()), StandardCharsets.UTF_8);
            String padded = payload.replaceFirst(
                    "\\{", "{\"x\":[\"" + "y".repeat(4000) + "\"" + (",\"" + "y".repeat(4000) + "\"").repeat(9) + "],");
            byte[] successor = TestSite.sign(
                    ProjectDocument.SUCCESSOR,
                    padded.getBytes(StandardCharsets.UTF_8),
                    fixture.site.a.ann,
                    fixture.site.a.ben);
            history = history.with(successor);
            fixture.deliver(successor);
            bytes += successor.length;
        }
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job(ticket.id())));
        RelayTicketMessage.Refused refused = claimer.next(RelayTicketMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.LIMIT);
        assertThat(refused.text()).contains("at most 1048576 are permitted");
    }

    @Test
    void the_same_ticket_again_is_the_same_job_and_another_one_of_its_id_is_refused() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        assertThat(slurm.submissions()).isEqualTo(1);

        Ticket other = vm.ticket(TestTicketAgent.nodes(2));
        vm.order(new Ticket(
                ticket.id(),
                other.project(),
                other.epoch(),
                other.sequence(),
                other.issued(),
                other.expires(),
                other.request()));
        RelayTicketMessage.Refused refused = vm.next(RelayTicketMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.USED);
        assertThat(refused.ticket()).isEqualTo(ticket.id());
        assertThat(slurm.submissions()).isEqualTo(1);
    }

    @Test
    void an_old_sequence_a_wrong_signer_and_a_ticket_above_the_quota_are_refused() throws Exception {
        Ticket old = vm.ticket(TestTicketAgent.nodes(1));
        Ticket next = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(next);
        vm.awaitState(next.id(), TicketState.ACCEPTED);
        vm.order(old);
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);

        vm.send(new AgentTicketMessage.Submit(ByteString.copyFrom(vm.ticket(TestTicketAgent.nodes(1))
                .sign(TestTicketAgent.key(fixture.credential(fixture.controller)))
                .bytes())));
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);

        vm.order(vm.ticket(TestTicketAgent.nodes(5)));
        RelayTicketMessage.Refused quota = vm.next(RelayTicketMessage.Refused.class);
        assertThat(quota.clause()).isEqualTo(TicketClause.QUOTA);
        assertThat(quota.text()).contains("1 and 5 more of 4 nodes");
    }

    @Test
    void a_withdrawal_ends_a_ticket_before_and_after_it_has_nodes() throws Exception {
        slurm.fail("n1");
        slurm.fail("n2");
        Ticket waiting = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(waiting);
        vm.awaitState(waiting.id(), TicketState.QUEUED);
        vm.withdraw(waiting.id());
        assertThat(vm.awaitState(waiting.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
        slurm.repair("n1");
        Ticket running = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(running);
        vm.awaitState(running.id(), TicketState.RUNNING);
        vm.withdraw(running.id());
        assertThat(vm.awaitState(running.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
        assertThat(slurm.jobs()).allMatch(job -> job.state() == GlobalJobState.CANCELLED);
    }

    @Test
    void a_withdrawal_that_slurm_does_not_hear_ends_the_ticket_when_it_does() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        slurm.answer(false);
        vm.withdraw(ticket.id());
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        slurm.answer(true);
        assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.WITHDRAWN);
    }

    @Test
    void a_host_that_is_faster_than_the_watch_waits_and_a_wrong_one_gets_nothing() throws Exception {
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.ACCEPTED);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), 1));
        claimer.next(RelayTicketMessage.Claimed.class);

        claimer.send(new AgentTicketMessage.Claim(ticket.id(), 2));
        assertThat(claimer.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        TlsCredential otherOwn = fixture.credential(RelayFixture.OTHER_HOST);
        try (TestAgent other = new TestAgent(fixture, otherOwn)) {
            TestTicketAgent thief = TestTicketAgent.of(other.attachment().link(), RelayFixture.OTHER_HOST, otherOwn);
            thief.send(new AgentTicketMessage.Claim(ticket.id(), 1));
            assertThat(thief.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        }
    }

    @Test
    void a_stream_without_the_controlling_vms_key_is_closed() throws Exception {
        TlsCredential other = fixture.credential(fixture.site.b.name("c", CertificateRole.CONTROLLER));
        assertThatThrownBy(() -> TestTicketAgent.controller(hostLink, fixture.controller, other))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("no welcome");
    }

    @Test
    void a_device_asks_for_its_projects_quota() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(2));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.ACCEPTED);
        TlsCredential own = fixture.credential(fixture.device);
        try (TestAgent device = new TestAgent(fixture, own)) {
            TestTicketAgent person = TestTicketAgent.of(device.attachment().link(), fixture.device, own);
            person.send(new AgentTicketMessage.QueryQuota());
            RelayTicketMessage.Quota quota = person.next(RelayTicketMessage.Quota.class);
            ProjectApproval.Quota approved = TestSite.QUOTA;
            assertThat(quota.account()).isEqualTo("chem");
            assertThat(quota.shares())
                    .contains(
                            new RelayTicketMessage.Share("tickets", 1, approved.tickets()),
                            new RelayTicketMessage.Share("nodes", 2, approved.nodes()));
            person.order(ticket);
            assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        }
    }

    @Test
    void an_allocation_is_what_its_relay_signed() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        RelayTicketMessage.Update running = vm.awaitState(ticket.id(), TicketState.RUNNING);
        Allocation allocation = AllocationVerifier.read(running.allocation().toByteArray(), relay());
        assertThat(allocation.slots()).hasSize(1);
        assertThat(allocation.vlan()).isBetween(100, 4094);
    }
}
