package org.cloister.vm.controller.unlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.CircuitPair;
import org.cloister.transport.link.MessageFraming;
import org.cloister.vm.boot.CircuitMessageRecorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The whole boot conversation of a controlling VM, in circuits whose both ends are real. */
@SuppressWarnings("FutureReturnValueIgnored") // what is not said is not answered
class UnlockServerTest {
    private static final Nonce NONCE = Nonce.random(new SecureRandom());

    private final ControllerUnlockFixture fixture = new ControllerUnlockFixture();
    private final CircuitPair circuits = new CircuitPair();
    private final ExecutorService work = Executors.newSingleThreadExecutor();
    private final List<VerifiedUnlock> opened = new CopyOnWriteArrayList<>();
    private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    private final List<AttestationClaims> claims = new ArrayList<>();
    private Optional<IOException> hostRefuses = Optional.empty();
    private Optional<UnlockRefused> opensNot = Optional.empty();
    private Optional<VmEndReport> lastEnd = Optional.empty();
    private final BlockingQueue<String> acknowledged = new LinkedBlockingQueue<>();
    private UnlockServer server;

    UnlockServerTest() throws Exception {}

    @BeforeEach
    void open() throws Exception {
        server = new UnlockServer(
                new UnlockServer.Context(
                        fixture.self(),
                        fixture.keys.publicKeys(),
                        fixture.bootCredential(),
                        CertifiedPeerVerifier.forRoles(fixture.createTrustStore(), Set.of(CertificateRole.OPENER))),
                this::vouch,
                unlocked -> {
                    if (opensNot.isPresent()) {
                        throw opensNot.get();
                    }
                    opened.add(unlocked);
                    return new VmMessage.Opened(6, false, lastEnd);
                },
                work,
                () -> ControllerUnlockFixture.NOW,
                ended::add,
                () -> acknowledged.add("the last end"));
    }

    @AfterEach
    void close() {
        circuits.close();
        work.shutdownNow();
        fixture.keys.close();
    }

    private Future<DsseEnvelope> vouch(AttestationClaims claim) {
        claims.add(claim);
        if (hostRefuses.isPresent()) {
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(hostRefuses.get());
        }
        VmFacts facts = new VmFacts(
                fixture.made.history().id(),
                ControllerUnlockFixture.VM,
                VmRole.CONTROLLER,
                BootFixture.OPENING,
                0,
                ControllerUnlockFixture.IMAGE,
                new VmShape(2, 4096, 0),
                HostSharing.NONE);
        try {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(DsseEnvelope.sign(
                    EvidenceStatement.TYPE,
                    new EvidenceStatement("node17", facts, claim, ControllerUnlockFixture.NOW, List.of()).json(),
                    fixture.host));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** An opener's end. */
    private final class OpenerCircuit {
        final CircuitMessageRecorder<VmMessage> listener = new CircuitMessageRecorder<>(VmMessage.class);
        final Circuit circuit;

        OpenerCircuit() throws Exception {
            var ends = circuits.open(
                    new CircuitTerms(fixture.opener, fixture.controller, Digest.sha384("policy")),
                    new CircuitPair.End(
                            fixture.openers(),
                            BootPeerVerifier.forBootingVm().only(fixture.controller),
                            (pipeline, own) -> pipeline.addLast(
                                    new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read),
                                    listener)),
                    new CircuitPair.End(
                            fixture.bootCredential(),
                            CertifiedPeerVerifier.forRoles(fixture.createTrustStore(), Set.of(CertificateRole.OPENER))
                                    .only(fixture.opener),
                            server::startSession));
            circuit = ends.opener();
        }

        void send(VerifierMessage message) {
            circuit.channel().writeAndFlush(MessageFraming.frame(message.wire()));
        }

        VmMessage receive() throws InterruptedException {
            return listener.hears();
        }

        HandoverTarget shown() throws Exception {
            send(new VerifierMessage.Question(NONCE));
            assertThat(receive()).isInstanceOf(VmMessage.Evidence.class);
            return new HandoverTarget(BootFixture.OPENING, 0, ControllerUnlockFixture.VM, NONCE);
        }

        void unlock(HandoverTarget at) throws Exception {
            try (var key = fixture.secrets.random(64)) {
                send(fixture.unlock(key, at));
            }
        }
    }

    @Test
    void a_vm_shows_its_evidence_and_is_opened() throws Exception {
        OpenerCircuit opener = new OpenerCircuit();
        opener.unlock(opener.shown());
        assertThat(opener.receive())
                .isInstanceOfSatisfying(
                        VmMessage.PhaseCompleted.class,
                        passed -> assertThat(passed.phase()).isEqualTo(BootPhase.KEYS));
        assertThat(opener.receive()).isInstanceOf(VmMessage.PhaseCompleted.class);
        assertThat(opener.receive()).isEqualTo(new VmMessage.Opened(6, false));
        assertThat(opened).hasSize(1);
        assertThat(claims.get(0).keys()).isEqualTo(fixture.keys.publicKeys());
        assertThat(ended).isEmpty();
        assertThat(acknowledged).isEmpty();
    }

    @Test
    void the_end_report_of_the_vm_before_is_sent_until_the_opener_acknowledges_it() throws Exception {
        lastEnd = Optional.of(VmEndReport.of(ControllerUnlockFixture.NOW, "the project cannot start: a test"));
        OpenerCircuit first = new OpenerCircuit();
        first.unlock(first.shown());
        OpenerCircuit second = new OpenerCircuit();
        second.unlock(second.shown());
        assertThat(second.receive()).isInstanceOf(VmMessage.PhaseCompleted.class);
        assertThat(second.receive()).isEqualTo(new VmMessage.Opened(6, false, lastEnd));
        assertThat(acknowledged).isEmpty();
        second.send(new VerifierMessage.Acknowledgement());
        assertThat(acknowledged.poll(20, TimeUnit.SECONDS)).isEqualTo("the last end");
        second.send(new VerifierMessage.Acknowledgement());
        assertThat(second.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                .as("once a circuit")
                .isTrue();
        assertThat(acknowledged).isEmpty();
        assertThat(ended).isEmpty();
    }

    @Test
    void who_asks_again_hears_that_it_is_open_and_nothing_is_opened_twice() throws Exception {
        OpenerCircuit first = new OpenerCircuit();
        first.unlock(first.shown());
        OpenerCircuit second = new OpenerCircuit();
        second.unlock(second.shown());
        assertThat(second.receive()).isInstanceOf(VmMessage.PhaseCompleted.class);
        assertThat(second.receive()).isEqualTo(new VmMessage.Opened(6, false));
        assertThat(opened).hasSize(1);
        fixture.epoch = 9;
        OpenerCircuit third = new OpenerCircuit();
        third.unlock(third.shown());
        assertThat(third.receive()).isInstanceOf(VmMessage.PhaseCompleted.class);
        assertThat(third.receive()).isEqualTo(new VmMessage.Failure(BootPhase.KEYS, "opened"));
        assertThat(opened).hasSize(1);
        assertThat(ended).as("a VM that is open goes on").isEmpty();
    }

    @Test
    void what_is_refused_is_said_in_its_word_and_the_vm_ends() throws Exception {
        fixture.policySigner = fixture.host;
        OpenerCircuit opener = new OpenerCircuit();
        opener.unlock(opener.shown());
        assertThat(opener.receive()).isEqualTo(new VmMessage.Failure(BootPhase.KEYS, "policy"));
        opener.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS);
        assertThat(opened).isEmpty();
        assertThat(ended.poll(20, TimeUnit.SECONDS)).startsWith("not opened: policy");
        assertThat(ended).isEmpty();
    }

    @Test
    void a_drive_that_is_refused_is_said_in_its_phase() throws Exception {
        opensNot = Optional.of(new UnlockRefused(BootPhase.DRIVE, "drive-epoch", new IOException("test")));
        OpenerCircuit opener = new OpenerCircuit();
        opener.unlock(opener.shown());
        assertThat(opener.receive()).isInstanceOf(VmMessage.PhaseCompleted.class);
        assertThat(opener.receive()).isEqualTo(new VmMessage.Failure(BootPhase.DRIVE, "drive-epoch"));
    }

    @Test
    void a_host_that_is_busy_is_asked_again_and_one_that_vouched_for_others_ends_the_vm() throws Exception {
        hostRefuses = Optional.of(new EvidenceRefusedException(EvidenceMessage.RefusalReason.BUSY));
        OpenerCircuit busy = new OpenerCircuit();
        busy.send(new VerifierMessage.Question(NONCE));
        assertThat(busy.receive()).isEqualTo(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.BUSY));
        assertThat(ended).isEmpty();
        hostRefuses = Optional.of(new EvidenceRefusedException(EvidenceMessage.RefusalReason.ANOTHER));
        OpenerCircuit other = new OpenerCircuit();
        other.send(new VerifierMessage.Question(NONCE));
        assertThat(other.receive()).isEqualTo(new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER));
        work.submit(() -> {}).get(20, TimeUnit.SECONDS);
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(ended).isEmpty();
    }

    @Test
    void an_unlocking_without_evidence_ends_the_circuit() throws Exception {
        OpenerCircuit opener = new OpenerCircuit();
        opener.unlock(fixture.place);
        assertThat(opener.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(opener.listener.received).isEmpty();
        assertThat(opened).isEmpty();
    }
}
