package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers at the admission, in circuits whose both ends are real, and what each is given. */
class WorkerAdmissionTest {
    private final AdmissionFixture fixture;

    WorkerAdmissionTest(@TempDir Path folder) throws Exception {
        fixture = new AdmissionFixture(folder);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void a_worker_whose_evidence_holds_is_handed_over_to_and_heard_from_then_on() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session session = vm.calls();
        HandoverDocument document = session.isGiven();
        assertThat(document.name()).isEqualTo(fixture.worker);
        assertThat(document.job().nodes()).hasSize(2);
        assertThat(document.accounts().jobUser().login()).isEqualTo("ben");
        assertThat(document.network().mac()).hasToString("52:54:0a:40:0c:06");
        assertThat(fixture.access.recorded).containsExactly("admit " + fixture.worker.id() + " at 10.64.12.6 as 1002");
        try (SecretMemory opened = new Hpke(fixture.opening.crypto)
                .open(
                        vm.keys.sealing(),
                        document.sealingContext(),
                        new byte[0],
                        document.mungeKey().bytes().toByteArray())) {
            assertThat(opened.sameAs(fixture.munge)).isTrue();
        }
        session.send(new VmMessage.PhaseCompleted(BootPhase.TUNNEL, Duration.ofSeconds(1)));
        session.send(new VmMessage.Ready());
        session.send(new VmMessage.Heartbeat());
        assertThat(session.receive()).isInstanceOf(VerifierMessage.LeaseRenewal.class);
        session.send(new VmMessage.FinalStatement(ByteString.copyFrom(
                DsseEnvelope.sign("part", new byte[] {1}, fixture.opening.host).bytes())));
        fixture.isTold("gave 1 3", "ended 1 part");
        fixture.settle(() -> assertThat(fixture.events)
                .hasSize(2)
                .anySatisfy(event -> assertThat(event)
                        .isEqualTo(new WorkerEvent.NodeReady(
                                BootFixture.TICKET, AdmissionFixture.SLOT, fixture.worker.id()))));
    }

    @Test
    void a_refused_allocation_is_counted_and_no_worker_is_expected() throws Exception {
        fixture.ticket.isAllocationRefused = true;
        fixture.settle(() -> assertThatThrownBy(
                        () -> fixture.admission.expectWorkers(fixture.ticket.ticket, AdmissionTicketFixture.update()))
                .hasMessageContaining("refused by the test"));
        assertThat(fixture.counts.refusedAllocations()).hasValue(1);
    }

    @Test
    void each_thing_that_is_not_as_it_should_be_denies_by_its_clause() throws Exception {
        SigningKey unknownKey = SigningKey.of(BootFixture.pair(SignatureCurve.P256));
        assertThat(fixture.new Vm().calls().isDenied(UnaryOperator.identity(), unknownKey))
                .containsExactly("signature");
        assertThat(fixture.new Vm()
                        .calls()
                        .isDenied(
                                s -> AdmissionFixture.with(s, facts(s, Digest.sha384("other"), AdmissionFixture.SLOT)),
                                fixture.opening.host))
                .containsExactly("image");
        assertThat(fixture.new Vm()
                        .calls()
                        .isDenied(
                                s -> AdmissionFixture.with(s, facts(s, ControllerUnlockFixture.IMAGE, 0)),
                                fixture.opening.host))
                .containsExactly("slot");
        assertThat(fixture.new Vm()
                        .calls()
                        .isDenied(
                                s -> AdmissionFixture.with(
                                        s,
                                        new AttestationClaims(
                                                s.claim().keys(),
                                                Nonce.random(new SecureRandom()),
                                                s.claim().binding())),
                                fixture.opening.host))
                .containsExactly("nonce");
        assertThat(fixture.new Vm()
                        .calls()
                        .isDenied(
                                s -> AdmissionFixture.with(
                                        s,
                                        new AttestationClaims(
                                                s.claim().keys(),
                                                s.claim().nonce(),
                                                CircuitBinding.of(new byte[1], new byte[2]))),
                                fixture.opening.host))
                .containsExactly("binding");
        BootKeyPairs others = fixture.new Vm().keys;
        assertThat(fixture.new Vm()
                        .calls()
                        .isDenied(
                                s -> AdmissionFixture.with(
                                        s,
                                        new AttestationClaims(
                                                others.publicKeys(),
                                                s.claim().nonce(),
                                                s.claim().binding())),
                                fixture.opening.host))
                .containsExactly("circuit");
        assertThat(fixture.access.recorded).isEmpty();
        assertThat(fixture.new Vm().calls().isGiven()).as("nothing was spent").isNotNull();
    }

    private static VmFacts facts(EvidenceStatement statement, Digest image, int slot) {
        VmFacts facts = statement.facts();
        return new VmFacts(
                facts.project(), facts.vm(), facts.role(), facts.ticket(), slot, image, facts.shape(), facts.sharing());
    }

    @Test
    void a_slot_is_handed_over_to_once() throws Exception {
        fixture.new Vm().calls().isGiven();
        AdmissionFixture.Session second = fixture.new Vm().calls();
        assertThat(((VerifierMessage.Denied) second.receive()).clauses()).containsExactly("spent");
        second.awaitEnd();
        assertThat(fixture.access.recorded).hasSize(1);
    }

    @Test
    void a_circuit_that_breaks_after_the_question_brings_the_same_question_to_the_same_vm_alone() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session broken = vm.calls();
        Nonce nonce = broken.asked();
        broken.circuit.channel().close().sync();
        assertThat(fixture.new Vm().calls().asked()).isNotEqualTo(nonce);
        AdmissionFixture.Session again = vm.calls();
        assertThat(again.asked()).isEqualTo(nonce);
        again.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        assertThat(again.receive()).isInstanceOf(HandoverDocument.class);
    }

    @Test
    void a_worker_that_was_away_when_it_was_released_hears_so_when_it_comes_back() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session first = vm.calls();
        HandoverDocument document = first.isGiven();
        first.circuit.channel().close().sync();
        fixture.settle(() -> fixture.admission.release(BootFixture.TICKET));
        AdmissionFixture.Session second = vm.callsWith(document);
        second.send(AdmissionFixture.resume());
        assertThat(second.receive()).isInstanceOf(VerifierMessage.Release.class);
    }

    @Test
    void when_a_ticket_ends_its_workers_are_kept_out_and_strangers() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session session = vm.calls();
        session.isGiven();
        fixture.settle(() -> fixture.admission.forget(BootFixture.TICKET));
        fixture.settle(() -> assertThat(fixture.access.recorded).endsWith("dismiss " + fixture.worker.id()));
        session.send(new VmMessage.Heartbeat());
        session.awaitEnd();
    }

    private void isGivenNothing() throws Exception {
        AdmissionFixture.Session session = fixture.new Vm().calls();
        session.shows(session.asked(), UnaryOperator.identity(), fixture.opening.host);
        session.awaitEnd();
        assertThat(session.listener.received).isEmpty();
        fixture.settle(() -> assertThat(fixture.events).hasSize(1).first().isInstanceOf(WorkerEvent.NodeGone.class));
    }

    @Test
    void who_cannot_be_let_in_is_given_nothing() throws Exception {
        fixture.access.fails = true;
        isGivenNothing();
    }

    @Test
    void who_would_be_in_no_receipt_is_given_nothing() throws Exception {
        fixture.recorder.fails = true;
        isGivenNothing();
    }

    /** Shows evidence, and returns what blocks when it is requested. */
    private Runnable requestHandover(AdmissionFixture.Session session) throws Exception {
        BlockingQueue<Runnable> requested = new LinkedBlockingQueue<>();
        fixture.provisioning = requested::add;
        session.shows(session.asked(), UnaryOperator.identity(), fixture.opening.host);
        return Objects.requireNonNull(requested.poll(20, TimeUnit.SECONDS), "a request within 20 s");
    }

    @Test
    void a_worker_that_comes_back_before_its_hand_over_is_ready_has_lost_it_and_the_queue_hears_it_once()
            throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session session = vm.calls();
        Runnable handover = requestHandover(session);
        session.circuit.channel().close().sync();
        assertThat(((VerifierMessage.Denied) vm.calls().receive()).clauses()).containsExactly("spent");
        handover.run();
        fixture.isGone("denied-spent");
    }

    @Test
    void a_worker_that_comes_back_behind_its_lost_hand_over_is_reported_once() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session session = vm.calls();
        Runnable handover = requestHandover(session);
        session.circuit.channel().close().sync();
        handover.run();
        assertThat(((VerifierMessage.Denied) vm.calls().receive()).clauses()).containsExactly("spent");
        fixture.isGone("denied-spent");
    }

    @Test
    void a_worker_whose_ticket_ends_before_the_hand_over_is_ready_gets_nothing_and_keeps_no_access() throws Exception {
        AdmissionFixture.Session session = fixture.new Vm().calls();
        Runnable handover = requestHandover(session);
        List<Runnable> later = new ArrayList<>();
        fixture.provisioning = later::add;
        fixture.settle(() -> fixture.admission.forget(BootFixture.TICKET));
        handover.run();
        later.forEach(Runnable::run);
        session.awaitEnd();
        assertThat(session.listener.received).isEmpty();
        assertThat(fixture.access.recorded).hasSize(2).last().isEqualTo("dismiss " + fixture.worker.id());
    }

    @Test
    void a_worker_whose_ticket_is_released_before_the_hand_over_is_ready_hears_so_behind_it() throws Exception {
        AdmissionFixture.Session session = fixture.new Vm().calls();
        Runnable handover = requestHandover(session);
        fixture.settle(() -> fixture.admission.release(BootFixture.TICKET));
        handover.run();
        assertThat(session.receive()).isInstanceOf(HandoverDocument.class);
        assertThat(session.receive()).isInstanceOf(VerifierMessage.Release.class);
    }

    @Test
    void a_worker_whose_slot_could_not_be_recorded_gets_its_hand_over_on_the_next_circuit() throws Exception {
        Path spent = fixture.folder.resolve("spent");
        Files.delete(spent);
        AdmissionFixture.Vm vm = fixture.new Vm();
        AdmissionFixture.Session first = vm.calls();
        first.shows(first.asked(), UnaryOperator.identity(), fixture.opening.host);
        first.awaitEnd();
        assertThat(first.listener.received).isEmpty();
        Files.createDirectory(spent);
        assertThat(vm.calls().isGiven().name()).isEqualTo(fixture.worker);
        fixture.settle(() -> assertThat(fixture.events).isEmpty());
    }

    @Test
    void nobody_else_gets_a_circuit_in_a_workers_name() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        TlsCredential others = TlsCredential.of(
                vm.keys.signing(),
                List.of(BootCertificate.make(
                        WorkerName.of(BootFixture.TICKET, 2, fixture.project),
                        SubjectPublicKey.of(vm.keys.publicKeys().signing()),
                        CertificateSigner.of(vm.keys.signing()),
                        ControllerUnlockFixture.NOW,
                        new SecureRandom())));
        assertThatThrownBy(() -> fixture.new Session(vm, others)).hasMessageContaining("no circuit");
        fixture.settle(() -> assertThat(fixture.events).isEmpty());
    }
}
