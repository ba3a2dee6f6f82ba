package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.links.CircuitRecorder;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.links.TestSite;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Openings of controlling VMs from a device's stream to Slurm and back. */
@SuppressWarnings("NullAway") // set up before each
class OpeningLifecycleTest extends TicketFixture {
    private TlsCredential opener;
    private TlsCredential deviceOwn;
    private TestAgent device;
    private TestTicketAgent person;

    @BeforeEach
    void login() throws Exception {
        opener = fixture.credential(fixture.site.a.name("p1", CertificateRole.OPENER));
        deviceOwn = fixture.credential(fixture.device);
        enter();
    }

    private void enter() throws Exception {
        device = new TestAgent(fixture, deviceOwn);
        person = TestTicketAgent.of(device.attachment().link(), fixture.device, deviceOwn);
    }

    @AfterEach
    void logout() {
        device.close();
    }

    private void restartRelay() throws Exception {
        device.close();
        restart();
        enter();
    }

    private Optional<GlobalJob> jobOf(Opening opening) throws Exception {
        return slurm.jobs().stream()
                .filter(job -> job.ticket().equals(opening.id()))
                .findFirst();
    }

    private void ended(Opening opening, TicketEnd end) throws Exception {
        assertThat(person.awaitState(opening.id(), TicketState.ENDED).end()).contains(end);
    }

    private AllocatedSlot claim(Opening opening) throws Exception {
        long job = job(opening.id());
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(opening.id(), job));
        RelayTicketMessage.Claimed claimed = claimer.next(RelayTicketMessage.Claimed.class);
        claimer.close();
        CertifiedIdentity signer = CertificateChain.parse(
                        claimed.chain().stream().map(ByteString::toByteArray).toList())
                .verify(
                        Set.of(CertificateRole.OPENER),
                        fixture.trustStore.anchors(),
                        fixture.trustStore.lists(),
                        Instant.now());
        assertThat(claimed.project().list().isEmpty()).isFalse();
        return AllocationVerifier.require(
                SignedRequest.read(claimed.ticket().toByteArray(), signer),
                claimed.allocation().toByteArray(),
                relay(),
                new AllocationVerifier.Claimant(TestTicketAgent.key(hostOwn).verificationKey(), job, 0, false),
                Instant.now());
    }

    @Test
    void an_opening_runs_among_controlling_VMs_and_its_claim_gives_the_first_address() throws Exception {
        slurm.fail("n2");
        Opening opening = person.opening(1);
        person.open(opener, opening);
        person.awaitState(opening.id(), TicketState.ACCEPTED);
        person.awaitState(opening.id(), TicketState.RUNNING);
        assertThat(slurm.partition(job(opening.id()))).isEqualTo("controllers");
        AllocatedSlot slot = claim(opening);
        person.send(new AgentTicketMessage.QueryTicket(opening.id()));
        Allocation allocation = AllocationVerifier.read(
                person.awaitState(opening.id(), TicketState.RUNNING)
                        .allocation()
                        .toByteArray(),
                relay());
        assertThat(slot.address()).isEqualTo(allocation.network().controller());
        assertThat(audit())
                .contains("\"opening.accepted\"")
                .contains("\"drive\":\"main\"")
                .contains("\"opener\":\"p1.opener.");

        slurm.endJob(job(opening.id()), GlobalJobState.COMPLETED);
        ended(opening, TicketEnd.COMPLETED);
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        assertThat(slurm.partition(job(ticket.id()))).isEqualTo("secure");
    }

    @Test
    void a_later_epoch_ends_the_one_before_and_only_then_runs_and_a_lower_one_is_refused() throws Exception {
        Opening first = person.opening(3);
        person.open(opener, first);
        person.awaitState(first.id(), TicketState.RUNNING);
        String before = claim(first).address().toString();

        slurm.answer(false);
        Opening second = person.opening(5);
        person.open(opener, second);
        person.awaitState(second.id(), TicketState.ACCEPTED);
        person.open(opener, second);
        person.awaitState(second.id(), TicketState.ACCEPTED);
        Opening lower = person.opening(4);
        person.open(opener, lower);
        RelayTicketMessage.Refused refused = person.next(RelayTicketMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.SEQUENCE);
        assertThat(refused.text()).contains("want an epoch after 5, have 4");
        slurm.answer(true);
        assertThat(jobOf(second)).isEmpty();

        ended(first, TicketEnd.SUPERSEDED);
        person.awaitState(second.id(), TicketState.RUNNING);
        assertThat(jobOf(first).orElseThrow().state()).isEqualTo(GlobalJobState.CANCELLED);
        assertThat(claim(second).address()).hasToString(before);
        assertThat(audit()).contains("\"superseded\"");
        restart();
        assertThat(audit()).as("counted until then").contains("\"opening.refused\"");
    }

    /** A second host, and a VM that it says is the project's controlling one. */
    private final class SecondHost implements AutoCloseable {
        private final CertificateName name = Opening.controller("main", fixture.site.a.id());
        private final TlsCredential vmOwn = fixture.credential(name);
        private final TlsCredential own = fixture.credential(RelayFixture.OTHER_HOST);
        private final TestAgent agent = new TestAgent(fixture, own);
        private final AgentAttachStream attachment = agent.attachment();

        SecondHost() throws Exception {}

        Optional<CloseReason> serves() throws Exception {
            return agent.serve(
                    attachment, name, vmOwn, CircuitRecorder.keeping().application());
        }

        Optional<CloseReason> servesHere() throws Exception {
            return host.serve(
                    hostAttachment, name, vmOwn, CircuitRecorder.keeping().application());
        }

        void claims(Opening opening) throws Exception {
            TestTicketAgent claimer = TestTicketAgent.of(attachment.link(), RelayFixture.OTHER_HOST, own);
            claimer.send(new AgentTicketMessage.Claim(opening.id(), job(opening.id())));
            claimer.next(RelayTicketMessage.Claimed.class);
            claimer.close();
        }

        Object dialled() throws Exception {
            RelayFixture.get(Circuit.open(
                    fixture.link(fixture.device),
                    RelayFixture.terms(fixture.member, name),
                    fixture.credential(fixture.member),
                    fixture.trust,
                    CircuitRecorder.keeping().application()));
            return agent.circuits.poll(20, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            agent.close();
        }
    }

    private static void displaced(TestAgent agent) throws Exception {
        assertThat(agent.served.poll(20, TimeUnit.SECONDS)).isEqualTo(Optional.of(CloseReason.CLAIMED));
    }

    @Test
    void the_name_is_the_hosts_that_claimed_the_opening_that_runs_and_goes_from_whoever_had_it() throws Exception {
        slurm.fail("n2");
        Opening second;
        try (SecondHost elsewhere = new SecondHost()) {
            assertThat(elsewhere.serves()).as("nobody runs").isEmpty();
            Opening first = person.opening(1);
            person.open(opener, first);
            person.awaitState(first.id(), TicketState.RUNNING);
            claim(first);
            assertThat(elsewhere.servesHere()).isEmpty();
            displaced(elsewhere.agent);
            assertThat(elsewhere.serves()).contains(CloseReason.CLAIMED);

            slurm.answer(false);
            second = person.opening(2);
            person.open(opener, second);
            person.awaitState(second.id(), TicketState.ACCEPTED);
            slurm.fail("n1");
            slurm.repair("n2");
            slurm.answer(true);
            person.awaitState(first.id(), TicketState.ENDED);
            person.awaitState(second.id(), TicketState.RUNNING);
            assertThat(elsewhere.serves()).as("the old VM lives on").contains(CloseReason.CLAIMED);
            elsewhere.claims(second);
            assertThat(elsewhere.serves()).isEmpty();
            displaced(host);
            assertThat(elsewhere.dialled()).isInstanceOf(Circuit.class);
            assertThat(elsewhere.servesHere()).contains(CloseReason.CLAIMED);
        }
        restartRelay();
        try (SecondHost elsewhere = new SecondHost()) {
            assertThat(elsewhere.servesHere()).as("after a restart").contains(CloseReason.CLAIMED);
            assertThat(elsewhere.serves()).isEmpty();
            slurm.endJob(job(second.id()), GlobalJobState.COMPLETED);
            person.send(new AgentTicketMessage.QueryTicket(second.id()));
            ended(second, TicketEnd.COMPLETED);
            elsewhere.attachment.unserve(elsewhere.name);
            await(() -> elsewhere.servesHere().isEmpty());
        }
    }

    @Test
    void a_relay_that_was_killed_between_two_openings_goes_on_from_its_records() throws Exception {
        Opening first = person.opening(1);
        person.open(opener, first);
        person.awaitState(first.id(), TicketState.RUNNING);
        slurm.answer(false);
        Opening second = person.opening(2);
        person.open(opener, second);
        person.awaitState(second.id(), TicketState.ACCEPTED);
        Opening third = person.opening(3);
        person.open(opener, third);
        person.awaitState(third.id(), TicketState.ACCEPTED);

        restartRelay();
        slurm.answer(true);
        person.send(new AgentTicketMessage.QueryTicket(third.id()));
        person.awaitState(third.id(), TicketState.RUNNING);
        for (Opening each : List.of(first, second)) {
            person.send(new AgentTicketMessage.QueryTicket(each.id()));
            ended(each, TicketEnd.SUPERSEDED);
        }
        assertThat(jobOf(second)).as("it was never submitted").isEmpty();
        restartRelay();
        person.open(opener, person.opening(3));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SEQUENCE);
    }

    @Test
    void the_quota_counts_an_opening_and_not_the_one_that_it_ends() throws Exception {
        Opening first = person.opening(1, 2);
        fixture.deliver(fixture.site.approval(fixture.site.a, 2, new ProjectApproval.Quota(1, 2, 512, 1, 100, 20)));
        person.open(opener, first);
        person.awaitState(first.id(), TicketState.RUNNING);
        vm.order(vm.ticket(TestTicketAgent.nodes(1)));
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.QUOTA);
        Opening more = person.opening(2, 3);
        person.open(opener, more);
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.QUOTA);
        Opening second = person.opening(2, 2);
        person.open(opener, second);
        ended(first, TicketEnd.SUPERSEDED);
        person.awaitState(second.id(), TicketState.RUNNING);
    }

    @Test
    void another_role_another_person_and_another_project_open_nothing() throws Exception {
        TlsCredential member = fixture.credential(fixture.member);
        person.open(member, person.opening(1));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        TlsCredential other = fixture.credential(fixture.site.a.name("p9", CertificateRole.OPENER));
        person.open(other, person.opening(1));
        RelayTicketMessage.Refused refused = person.next(RelayTicketMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.SIGNATURE);
        assertThat(refused.text()).contains("want the chain of p1.opener.");
        TlsCredential foreign = fixture.credential(fixture.site.b.name("p1", CertificateRole.OPENER));
        person.open(foreign, person.opening(1));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        Opening its = person.opening(1);
        Opening theirs =
                new Opening(its.id(), fixture.site.b.id(), 1, its.issued(), its.expires(), "main", 0, 1, 512, 60);
        person.open(opener, theirs);
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        person.send(new AgentTicketMessage.Open(
                TestTicketAgent.chain(opener),
                ByteString.copyFrom(its.sign(TestTicketAgent.key(member)).bytes())));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        vm.open(opener, its);
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        assertThat(slurm.submissions()).isZero();
    }

    @Test
    void an_opener_closes_it_and_neither_a_controlling_VM_nor_a_stranger_does() throws Exception {
        Opening opening = person.opening(1);
        person.open(opener, opening);
        person.awaitState(opening.id(), TicketState.RUNNING);
        vm.withdraw(opening.id());
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        vm.send(new AgentTicketMessage.QueryTicket(opening.id()));
        assertThat(vm.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.QUEUED);
        person.close(opener, ticket.id());
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        person.send(new AgentTicketMessage.QueryTicket(ticket.id()));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.PROJECT);
        person.send(new AgentTicketMessage.Close(
                TestTicketAgent.chain(opener),
                ByteString.copyFrom(new Withdrawal(opening.id(), opening.project())
                        .sign(TestTicketAgent.key(controllerOwn))
                        .bytes())));
        assertThat(person.next(RelayTicketMessage.Refused.class).clause()).isEqualTo(TicketClause.SIGNATURE);
        vm.withdraw(ticket.id());
        vm.awaitState(ticket.id(), TicketState.ENDED);
        person.close(opener, opening.id());
        person.awaitState(opening.id(), TicketState.RUNNING);
        ended(opening, TicketEnd.WITHDRAWN);
        Opening again = person.opening(2);
        person.open(opener, again);
        person.awaitState(again.id(), TicketState.RUNNING);
        slurm.endJob(job(again.id()), GlobalJobState.CANCELLED);
        ended(again, TicketEnd.CANCELLED);
    }

    @Test
    void a_relay_without_a_partition_for_controlling_VMs_takes_none_and_submits_none() throws Exception {
        slurm.answer(false);
        Opening accepted = person.opening(1);
        person.open(opener, accepted);
        person.awaitState(accepted.id(), TicketState.ACCEPTED);
        slurm.partitions(new GlobalPartitions("secure", Optional.empty()));
        restartRelay();
        slurm.answer(true);
        person.send(new AgentTicketMessage.QueryTicket(accepted.id()));
        ended(accepted, TicketEnd.REFUSED);
        person.open(opener, person.opening(2));
        RelayTicketMessage.Refused refused = person.next(RelayTicketMessage.Refused.class);
        assertThat(refused.clause()).isEqualTo(TicketClause.NO_SLURM);
        assertThat(refused.text()).contains("slurm.controllers");
        assertThat(slurm.submissions()).isZero();
    }

    @Test
    void who_claims_gets_the_newest_chain_of_the_key_that_signed() throws Exception {
        CertificateName name = fixture.site.a.name("p1", CertificateRole.OPENER);
        KeyPair pair = TestSite.pair(SignatureCurve.P384);
        TlsCredential first = fixture.site.credential(name, pair, Duration.ofHours(1));
        TlsCredential renewed = fixture.site.credential(name, pair, Duration.ofHours(20));
        Opening opening = person.opening(1);
        person.open(first, opening);
        person.awaitState(opening.id(), TicketState.RUNNING);
        person.close(renewed, Ticket.newId(new SecureRandom()));
        person.next(RelayTicketMessage.Refused.class);
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(opening.id(), job(opening.id())));
        byte[] leaf =
                claimer.next(RelayTicketMessage.Claimed.class).chain().get(0).toByteArray();
        assertThat(leaf).isEqualTo(renewed.chain().get(0).getEncoded());
    }
}
