package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.lab.SampledScenario;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.channel.PortFault.From;
import org.cloister.transport.channel.PortFault.Kind;
import org.cloister.transport.channel.PortFault.Position;
import org.cloister.transport.channel.PortWire;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.StreamRequest;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.worker.TestWorkerAdmission;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A VM's agent and its host's, each as it is, over a port of whose first session each frame is lost once: the host's connection
 * ends with it, or one of the agents, and starts again. In the end the VM is what its host had on disk, the host knows that it
 * spoke, and what one of them vouched for is what the other one showed; or both know that there is nothing.
 */
@Tag("boundary")
@SampledScenario(value = 2, cases = 3)
@Timeout(900)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class ChannelConversationTest {
    private static final String DRIVE = "main";
    private static final List<Kind> ENDS = List.of(Kind.HUNG_UP, Kind.VM_RESTARTS, Kind.HOST_RESTARTS);

    /** The streams of a session's questions: the first is that of Attach, the third a worker's circuit. */
    private static final String ASSIGNMENT = "5";

    private static final String EVIDENCE = "9";

    @TempDir
    private Path folder;

    private static void worker(Path own, PortWire wire) throws Exception {
        try (ChannelConversation ends = new ChannelConversation(own, wire);
                TestWorkerAdmission admission = new TestWorkerAdmission(own.resolve("admission"), ends.self.key());
                AgentLink link = serving(ends, admission)) {
            assertThat(link).isNotNull();
            ends.make(admission.told(), TestWorkerAdmission.IMAGE, Optional.empty());
            ends.boot();
            ends.awaitUnlessOff("a node", () -> isReady(admission));
            if (!ends.vm.isOff()) {
                ends.revoke(admission.laterRevocations());
                ends.awaitUnlessOff("the worker's own refusal", () -> isRefused(admission));
                ends.leave();
            }
            ends.requireAgreed();
            requireGivenOnce(ends, admission);
        }
    }

    private static AgentLink serving(ChannelConversation ends, TestWorkerAdmission admission) throws Exception {
        ends.relay.serve(admission.project(), admission.revocations());
        AgentLink link = ends.elsewhere(admission);
        ends.await("an admission that workers can reach", admission::isServed);
        return link;
    }

    private static boolean isReady(TestWorkerAdmission admission) {
        return admission.events.stream().anyMatch(WorkerEvent.NodeReady.class::isInstance);
    }

    /** Who calls a worker hears of the worker's own agent that it takes no calls: a Dial that goes down, and an answer up. */
    private static boolean isRefused(TestWorkerAdmission admission) throws Exception {
        StreamRequest.Circuit call = new StreamRequest.Circuit(
                ProtocolVersions.OURS, admission.worker(), admission.controller(), Digest.sha384("a policy"));
        Future<? extends Channel> opened = admission.link().open(call, Channel::close);
        return opened.await(30, TimeUnit.SECONDS)
                && opened.cause() instanceof CircuitException refused
                && refused.close().equals(new CircuitClose(CircuitClose.Side.TARGET, CloseReason.REFUSED));
    }

    /** Of the host's word nobody has another one; a slot is given once, to this VM's keys, or its admission knows that it is lost. */
    private static void requireGivenOnce(ChannelConversation ends, TestWorkerAdmission admission) throws Exception {
        Optional<EvidenceStatement> vouched = ends.vouched();
        assertThat(admission.gives()).isLessThanOrEqualTo(1);
        assertThat(admission.evidence).hasSize(admission.gives());
        for (ByteString evidence : admission.evidence) {
            byte[] payload = DsseEnvelope.parse(evidence.toByteArray(), EvidenceMessage.MAX_ENVELOPE)
                    .verify(EvidenceStatement.TYPE, List.of(ends.self.key().verificationKey()), 1);
            assertThat(vouched).contains(EvidenceStatement.parse(payload));
        }
        if (isReady(admission)) {
            assertThat(admission.gives()).isEqualTo(1);
            assertThat(ends.vm.steps).contains("slurmd");
        } else if (ends.vm.starts() == 1) {
            // Its agent lives on, and has heard why there is nothing for it.
            assertThat(ends.vm.steps).as("steps of a worker without keys").isEmpty();
            assertThat(admission.events)
                    .filteredOn(WorkerEvent.NodeGone.class::isInstance)
                    .singleElement()
                    .satisfies(gone -> assertThat(
                                    ((WorkerEvent.NodeGone) gone).reason().code())
                            .isEqualTo("denied-spent"));
        }
    }

    /** Of a VM that was replaced under its host: what it asks is another question than the one that was answered. */
    private static void replaced(Path own, PortWire wire) throws Exception {
        try (ChannelConversation ends = new ChannelConversation(own, wire);
                TestWorkerAdmission admission = new TestWorkerAdmission(own.resolve("admission"), ends.self.key());
                AgentLink link = serving(ends, admission)) {
            assertThat(link).isNotNull();
            ends.make(admission.told(), TestWorkerAdmission.IMAGE, Optional.empty());
            AttestationClaims before = new AttestationClaims(
                    new BootPublicKeys(key(), key()),
                    Nonce.random(new SecureRandom()),
                    CircuitBinding.of(new byte[1], new byte[2]));
            new EvidenceStatementSigner("n1", ends.self.key(), ends.self.statements())
                    .issue(ends.plan.facts(), before, List.of(), Instant.now());
            ends.boot();
            ends.await("a VM that is off", ends.vm::isOff);
            ends.requireAgreed();
            assertThat(ends.vm.isAsked()).isTrue();
            assertThat(ends.vm.steps).isEmpty();
            assertThat(admission.gives()).isZero();
            assertThat(EvidenceStatement.parse(ends.self
                                    .statements()
                                    .find(ends.plan.owner().vmId())
                                    .orElseThrow())
                            .claim())
                    .isEqualTo(before);
        }
    }

    private static VerificationKey key() throws Exception {
        return SigningKey.of(BootFixture.pair(SignatureCurve.P384)).verificationKey();
    }

    private static AssignmentMessage.Assigned controllers(ChannelConversation ends) {
        return new AssignmentMessage.Assigned(
                Opening.controller(DRIVE, ends.relay.project().id()),
                BootFixture.OPENING,
                0,
                ends.relay.opener(),
                ends.relay.project().envelopes().stream()
                        .map(ByteString::copyFrom)
                        .toList());
    }

    private static void controller(Path own, PortWire wire) throws Exception {
        try (ChannelConversation ends = new ChannelConversation(own, wire)) {
            AssignmentMessage.Assigned assigned = controllers(ends);
            ends.make(assigned, Digest.sha384("an image"), Optional.of(DRIVE));
            ends.boot();
            Optional<AttestationResult> verdict = Optional.empty();
            try (ChannelOpener opener = new ChannelOpener(
                    ends.relay, assigned.name(), ends.plan, ends.self.key().verificationKey())) {
                while (verdict.isEmpty() && !ends.vm.isOff()) {
                    verdict = opener.ask();
                    if (verdict.isEmpty()) {
                        // A VM that boots calls nobody.
                        Thread.sleep(300);
                    }
                }
            }
            if (!ends.vm.isOff()) {
                ends.revoke(ends.relay.laterRevocations());
                ends.leave();
            }
            ends.requireAgreed();
            Optional<EvidenceStatement> vouched = ends.vouched();
            if (verdict.isPresent()) {
                assertThat(verdict.get()).isInstanceOf(AttestationResult.Accepted.class);
                assertThat(vouched).contains(((AttestationResult.Accepted) verdict.get()).statement());
            } else {
                assertThat(ends.vm.starts())
                        .as("agents of a VM that was asked and is off")
                        .isEqualTo(2);
            }
        }
    }

    /** Of a release before, which kept no assignments: there will be none. */
    private static void unassigned(Path own, PortWire wire) throws Exception {
        try (ChannelConversation ends = new ChannelConversation(own, wire)) {
            ends.make(controllers(ends), Digest.sha384("an image"), Optional.of(DRIVE));
            Files.delete(ends.self.folder(ends.plan).resolve("assignment"));
            ends.boot();
            ends.awaitAnswers();
            ends.leave();
            ends.requireAgreed();
            assertThat(ends.vm.assignments).isEmpty();
            assertThat(ends.vm.isAsked()).isFalse();
        }
    }

    /** A controlling VM that is at work: its stream of tickets goes through its channel. */
    private static void tickets(Path own, PortWire wire) throws Exception {
        TicketConversation ends = new TicketConversation(own, wire);
        try {
            TicketScenarios scenarios = new TicketScenarios(ends);
            scenarios.await(ends::isWhole);
            scenarios.live("a ticket");
        } finally {
            ends.close();
        }
    }

    /** Of the VM's questions and its host's answers, each of which is one frame. */
    private static List<Position> questions(String... streams) {
        return Arrays.stream(streams)
                .flatMap(stream ->
                        Arrays.stream(From.values()).map(from -> new Position(from, "DATA " + stream + " end", 0)))
                .toList();
    }

    @Test
    void whatever_the_channel_loses_both_ends_agree_on_what_the_vm_is_and_what_was_vouched_for() throws Exception {
        new PortFaultSweep(folder)
                .run(List.of(
                        new PortFaultSweep.FaultPlan(
                                "worker", ChannelConversationTest::worker, ENDS, questions(ASSIGNMENT, EVIDENCE)),
                        new PortFaultSweep.FaultPlan(
                                "unassigned VM", ChannelConversationTest::unassigned, ENDS, List.of()),
                        new PortFaultSweep.FaultPlan(
                                "replaced worker", ChannelConversationTest::replaced, ENDS, List.of()),
                        new PortFaultSweep.FaultPlan(
                                "controlling VM", ChannelConversationTest::controller, ENDS, List.of()),
                        new PortFaultSweep.FaultPlan(
                                "VM at work", ChannelConversationTest::tickets, List.of(Kind.HUNG_UP), List.of())));
    }
}
