package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Circuits in a worker's name that show a boot certificate of their own making: whatever they say, the slot's worker and its
 * host are not touched.
 */
@Tag("boundary")
class UnauthenticatedWorkerTest {
    private final AdmissionFixture fixture;
    private final List<AdmissionFixture.Vm> vms = new ArrayList<>();

    UnauthenticatedWorkerTest(@TempDir Path folder) throws Exception {
        fixture = new AdmissionFixture(folder);
    }

    @AfterEach
    void close() {
        vms.forEach(vm -> vm.keys.close());
        fixture.close();
    }

    private AdmissionFixture.Vm vm() throws Exception {
        AdmissionFixture.Vm vm = fixture.new Vm();
        vms.add(vm);
        return vm;
    }

    private static void isHeard(AdmissionFixture.Session worker) throws Exception {
        worker.send(new VmMessage.Heartbeat());
        assertThat(worker.receive())
                .as("what the slot's worker hears")
                .isInstanceOf(VerifierMessage.LeaseRenewal.class);
    }

    private void isDenied(AdmissionFixture.Session unauthenticated, String clause) throws Exception {
        assertThat(unauthenticated.receive())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly(clause));
        unauthenticated.awaitEnd();
    }

    private void nothingIsSaid() throws Exception {
        fixture.settle(
                () -> assertThat(fixture.events).as("what the queue was told").isEmpty());
    }

    @Test
    void one_that_comes_first_keeps_no_worker_from_its_slot() throws Exception {
        AdmissionFixture.Session unauthenticated = vm().calls();
        unauthenticated.asked();
        AdmissionFixture.Session worker = vm().calls();
        worker.isGiven();
        isDenied(unauthenticated, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_comes_later_hears_that_the_slot_is_spent_and_the_worker_goes_on() throws Exception {
        AdmissionFixture.Session worker = vm().calls();
        worker.isGiven();
        isDenied(vm().calls(), "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_comes_between_a_workers_question_and_its_evidence_stands_beside_it() throws Exception {
        AdmissionFixture.Session worker = vm().calls();
        Nonce nonce = worker.asked();
        AdmissionFixture.Session unauthenticated = vm().calls();
        unauthenticated.asked();
        worker.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        assertThat(worker.receive()).isInstanceOf(HandoverDocument.class);
        isDenied(unauthenticated, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void trouble_of_one_changes_nothing() throws Exception {
        AdmissionFixture.Session worker = vm().calls();
        Nonce nonce = worker.asked();
        for (VmMessage word : List.of(
                new VmMessage.Failure(BootPhase.TUNNEL, "no-network"),
                new VmMessage.NoStatement(EvidenceMessage.RefusalReason.ANOTHER),
                new VmMessage.NoStatement(EvidenceMessage.RefusalReason.FAILED))) {
            AdmissionFixture.Session unauthenticated = vm().calls();
            unauthenticated.asked();
            unauthenticated.send(word);
            unauthenticated.awaitEnd();
        }
        nothingIsSaid();
        worker.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        assertThat(worker.receive()).isInstanceOf(HandoverDocument.class);
        isHeard(worker);
    }

    @Test
    void a_statement_that_the_slots_host_did_not_sign_changes_nothing() throws Exception {
        SigningKey unknown = SigningKey.of(BootFixture.pair(SignatureCurve.P256));
        assertThat(vm().calls().isDenied(UnaryOperator.identity(), unknown)).containsExactly("signature");
        AdmissionFixture.Session garbled = vm().calls();
        garbled.asked();
        garbled.circuit
                .channel()
                .writeAndFlush(Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 2, 127, 127}))
                .sync();
        garbled.awaitEnd();
        nothingIsSaid();
        vm().calls().isGiven();
    }

    @Test
    void a_statement_of_the_slots_host_about_another_vm_changes_nothing() throws Exception {
        AdmissionFixture.Vm other = vm();
        assertThat(vm().calls()
                        .isDenied(
                                s -> AdmissionFixture.with(
                                        s,
                                        new AttestationClaims(
                                                other.keys.publicKeys(),
                                                s.claim().nonce(),
                                                s.claim().binding())),
                                fixture.opening.host))
                .containsExactly("circuit");
        assertThat(vm().calls().isDenied(s -> AdmissionFixture.with(s, inSlot(s, 0)), fixture.opening.host))
                .containsExactly("slot");
        nothingIsSaid();
    }

    private static VmFacts inSlot(EvidenceStatement statement, int slot) {
        VmFacts facts = statement.facts();
        return new VmFacts(
                facts.project(),
                facts.vm(),
                facts.role(),
                facts.ticket(),
                slot,
                facts.image(),
                facts.shape(),
                facts.sharing());
    }

    @Test
    void a_statement_that_the_slots_host_signed_for_this_circuits_vm_counts() throws Exception {
        UnaryOperator<EvidenceStatement> anotherImage = s -> {
            VmFacts facts = s.facts();
            return AdmissionFixture.with(
                    s,
                    new VmFacts(
                            facts.project(),
                            facts.vm(),
                            facts.role(),
                            facts.ticket(),
                            facts.slot(),
                            Digest.sha384("other"),
                            facts.shape(),
                            facts.sharing()));
        };
        assertThat(vm().calls().isDenied(anotherImage, fixture.opening.host)).containsExactly("image");
        fixture.isGone("denied-image");
    }

    @Test
    void a_second_vm_that_the_host_vouches_for_takes_nothing_of_the_first() throws Exception {
        AdmissionFixture.Session second = vm().calls();
        Nonce nonce = second.asked();
        AdmissionFixture.Session worker = vm().calls();
        worker.isGiven();
        // Said before it heard that the slot is spent.
        second.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        isDenied(second, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_shows_no_evidence_is_waited_for_no_longer_than_the_limit() throws Exception {
        AdmissionFixture.Vm vm = vm();
        List<VmMessage> received = new CopyOnWriteArrayList<>();
        AdmissionFixture.Session silent = fixture
        .new Session(
                vm,
                vm.boot,
                circuit -> new WorkerSession(
                        circuit,
                        vm.boot,
                        (on, message) -> received.add(message),
                        on -> {},
                        new UnauthenticatedPeerCounter(() -> {}),
                        Duration.ofMillis(200)));
        silent.awaitEnd();
        assertThat(received).isEmpty();
    }

    @Test
    void what_strangers_do_is_counted_and_few_of_them_get_a_line_of_log() throws Exception {
        AtomicInteger counted = new AtomicInteger();
        UnauthenticatedPeerCounter unauthenticatedPeers = new UnauthenticatedPeerCounter(counted::incrementAndGet);
        List<Integer> logged = new ArrayList<>();
        for (int i = 1; i <= 10_000; i++) {
            if (unauthenticatedPeers.countEvent()) {
                logged.add(i);
            }
        }
        assertThat(counted).hasValue(10_000);
        assertThat(logged).containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192);
        vm().calls().isGiven();
        isDenied(vm().calls(), "spent");
        assertThat(fixture.counts.unauthenticatedPeers()).hasValue(1);
    }

    @Test
    void a_slot_is_spent_for_strangers_after_the_controlling_vm_was_opened_anew() throws Exception {
        AdmissionFixture.Vm vm = vm();
        HandoverDocument document = vm.calls().isGiven();
        fixture.reopen();
        AdmissionFixture.Session back = vm.callsWith(document);
        back.send(AdmissionFixture.resume());
        assertThat(back.receive()).isInstanceOf(ReadmissionGrant.class);
        isDenied(vm().calls(), "spent");
        isHeard(back);
        nothingIsSaid();
    }

    @Test
    void a_worker_whose_hand_over_was_lost_is_known_by_its_key_and_the_queue_hears_it_at_once() throws Exception {
        AdmissionFixture.Vm vm = vm();
        AdmissionFixture.Session lost = vm.calls();
        lost.isGiven();
        isDenied(vm.calls(), "spent");
        lost.awaitEnd();
        fixture.isGone("denied-spent");
    }

    @Test
    void a_worker_that_calls_again_before_its_evidence_has_one_circuit() throws Exception {
        AdmissionFixture.Vm vm = vm();
        AdmissionFixture.Session first = vm.calls();
        Nonce nonce = first.asked();
        AdmissionFixture.Session second = vm.calls();
        assertThat(second.asked()).isEqualTo(nonce);
        first.awaitEnd();
        second.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        assertThat(second.receive()).isInstanceOf(HandoverDocument.class);
        nothingIsSaid();
    }

    @Test
    void of_many_at_once_the_oldest_give_way_and_the_worker_that_comes_then_is_handed_over_to() throws Exception {
        List<AdmissionFixture.Session> unauthenticatedPeers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            unauthenticatedPeers.add(vm().calls());
            unauthenticatedPeers.get(i).asked();
        }
        AdmissionFixture.Session worker = vm().calls();
        Nonce nonce = worker.asked();
        for (AdmissionFixture.Session unauthenticated : unauthenticatedPeers.subList(0, 33)) {
            unauthenticated.awaitEnd();
        }
        assertThat(unauthenticatedPeers.subList(33, 40))
                .as("what a slot has beside its worker")
                .allMatch(each -> each.circuit.channel().isActive());
        worker.shows(nonce, UnaryOperator.identity(), fixture.opening.host);
        assertThat(worker.receive()).isInstanceOf(HandoverDocument.class);
        for (AdmissionFixture.Session unauthenticated : unauthenticatedPeers) {
            unauthenticated.awaitEnd();
        }
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void nothing_is_kept_of_circuits_that_have_ended_nor_of_a_ticket_that_has() throws Exception {
        long before = RetainedObjectCounter.by(fixture.admission);
        for (int i = 0; i < 40; i++) {
            AdmissionFixture.Session unauthenticated = vm().calls();
            unauthenticated.asked();
            unauthenticated.circuit.channel().close().sync();
        }
        fixture.awaits(() -> RetainedObjectCounter.by(fixture.admission) <= before);
        vm().calls().isGiven();
        fixture.settle(() -> fixture.admission.forget(BootFixture.TICKET));
        fixture.awaits(() -> RetainedObjectCounter.by(fixture.admission) < before);
    }

    @Test
    void ten_thousand_keys_leave_nothing_and_each_has_its_own_question_that_stays() throws Exception {
        ExpectedWorkers.ExpectedSlot place = fixture.place(AdmissionFixture.SLOT);
        WorkerAttestation attestation = fixture.createAttestation();
        SigningKey one = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        Nonce first = attestation.nonceFor(place, one.verificationKey());
        long before = RetainedObjectCounter.by(attestation);
        Set<Nonce> all = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            all.add(attestation.nonceFor(
                    place, SigningKey.of(BootFixture.pair(SignatureCurve.P256)).verificationKey()));
        }
        assertThat(all).hasSize(10_000).doesNotContain(first);
        assertThat(RetainedObjectCounter.by(attestation)).isEqualTo(before);
        assertThat(attestation.nonceFor(place, one.verificationKey())).isEqualTo(first);
        assertThat(fixture.createAttestation().nonceFor(place, one.verificationKey()))
                .as("of another boot")
                .isNotEqualTo(first);
    }
}
