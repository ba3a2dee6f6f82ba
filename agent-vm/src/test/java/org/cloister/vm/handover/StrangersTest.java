package org.cloister.vm.handover;

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
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.Strangers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Circuits in a worker's name that show a boot certificate of their own making: whatever they say, the slot's worker and its
 * host are not touched.
 */
class StrangersTest {
    private final DeskWorld world;
    private final List<DeskWorld.Vm> vms = new ArrayList<>();

    StrangersTest(@TempDir Path folder) throws Exception {
        world = new DeskWorld(folder);
    }

    @AfterEach
    void close() {
        vms.forEach(vm -> vm.keys.close());
        world.close();
    }

    private DeskWorld.Vm vm() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        vms.add(vm);
        return vm;
    }

    private static void isHeard(DeskWorld.Talk worker) throws Exception {
        worker.say(new VmMessage.Beat());
        assertThat(worker.hears()).as("what the slot's worker hears").isInstanceOf(VerifierMessage.Beat.class);
    }

    private void isDenied(DeskWorld.Talk stranger, String clause) throws Exception {
        assertThat(stranger.hears())
                .isInstanceOfSatisfying(
                        VerifierMessage.Denied.class,
                        denied -> assertThat(denied.clauses()).containsExactly(clause));
        stranger.ends();
    }

    private void nothingIsSaid() throws Exception {
        world.settle(() -> assertThat(world.news).as("what the queue was told").isEmpty());
    }

    @Test
    void one_that_comes_first_keeps_no_worker_from_its_slot() throws Exception {
        DeskWorld.Talk stranger = vm().calls();
        stranger.asked();
        DeskWorld.Talk worker = vm().calls();
        worker.isGiven();
        isDenied(stranger, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_comes_later_hears_that_the_slot_is_spent_and_the_worker_goes_on() throws Exception {
        DeskWorld.Talk worker = vm().calls();
        worker.isGiven();
        isDenied(vm().calls(), "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_comes_between_a_workers_question_and_its_evidence_stands_beside_it() throws Exception {
        DeskWorld.Talk worker = vm().calls();
        Nonce nonce = worker.asked();
        DeskWorld.Talk stranger = vm().calls();
        stranger.asked();
        worker.shows(nonce, UnaryOperator.identity(), world.opening.host);
        assertThat(worker.hears()).isInstanceOf(HandOver.class);
        isDenied(stranger, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void trouble_of_one_changes_nothing() throws Exception {
        DeskWorld.Talk worker = vm().calls();
        Nonce nonce = worker.asked();
        for (VmMessage word : List.of(
                new VmMessage.Trouble(BootPhase.TUNNEL, "no-network"),
                new VmMessage.NoStatement(EvidenceMessage.Why.ANOTHER),
                new VmMessage.NoStatement(EvidenceMessage.Why.FAILED))) {
            DeskWorld.Talk stranger = vm().calls();
            stranger.asked();
            stranger.say(word);
            stranger.ends();
        }
        nothingIsSaid();
        worker.shows(nonce, UnaryOperator.identity(), world.opening.host);
        assertThat(worker.hears()).isInstanceOf(HandOver.class);
        isHeard(worker);
    }

    @Test
    void a_statement_that_the_slots_host_did_not_sign_changes_nothing() throws Exception {
        SigningKey unknown = SigningKey.of(BootWorld.pair(Curve.P256));
        assertThat(vm().calls().isDenied(UnaryOperator.identity(), unknown)).containsExactly("signature");
        DeskWorld.Talk garbled = vm().calls();
        garbled.asked();
        garbled.circuit
                .channel()
                .writeAndFlush(Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 2, 127, 127}))
                .sync();
        garbled.ends();
        nothingIsSaid();
        vm().calls().isGiven();
    }

    @Test
    void a_statement_of_the_slots_host_about_another_vm_changes_nothing() throws Exception {
        DeskWorld.Vm other = vm();
        assertThat(vm().calls()
                        .isDenied(
                                s -> DeskWorld.with(
                                        s,
                                        new Claim(
                                                other.keys.shown(),
                                                s.claim().nonce(),
                                                s.claim().binding())),
                                world.opening.host))
                .containsExactly("circuit");
        assertThat(vm().calls().isDenied(s -> DeskWorld.with(s, inSlot(s, 0)), world.opening.host))
                .containsExactly("slot");
        nothingIsSaid();
    }

    private static VmFacts inSlot(Statement statement, int slot) {
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
        UnaryOperator<Statement> anotherImage = s -> {
            VmFacts facts = s.facts();
            return DeskWorld.with(
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
        assertThat(vm().calls().isDenied(anotherImage, world.opening.host)).containsExactly("image");
        world.isGone("denied-image");
    }

    @Test
    void a_second_vm_that_the_host_vouches_for_takes_nothing_of_the_first() throws Exception {
        DeskWorld.Talk second = vm().calls();
        Nonce nonce = second.asked();
        DeskWorld.Talk worker = vm().calls();
        worker.isGiven();
        // Said before it heard that the slot is spent.
        second.shows(nonce, UnaryOperator.identity(), world.opening.host);
        isDenied(second, "spent");
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void one_that_shows_no_evidence_is_waited_for_no_longer_than_the_limit() throws Exception {
        DeskWorld.Vm vm = vm();
        List<VmMessage> heard = new CopyOnWriteArrayList<>();
        DeskWorld.Talk silent = world
        .new Talk(
                vm,
                vm.boot,
                circuit -> new WorkerTalk(
                        circuit,
                        vm.boot,
                        (on, message) -> heard.add(message),
                        on -> {},
                        new Strangers(() -> {}),
                        Duration.ofMillis(200)));
        silent.ends();
        assertThat(heard).isEmpty();
    }

    @Test
    void what_strangers_do_is_counted_and_few_of_them_get_a_line_of_log() throws Exception {
        AtomicInteger counted = new AtomicInteger();
        Strangers strangers = new Strangers(counted::incrementAndGet);
        List<Integer> logged = new ArrayList<>();
        for (int i = 1; i <= 10_000; i++) {
            if (strangers.another()) {
                logged.add(i);
            }
        }
        assertThat(counted).hasValue(10_000);
        assertThat(logged).containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192);
        vm().calls().isGiven();
        isDenied(vm().calls(), "spent");
        assertThat(world.strangers).hasValue(1);
    }

    @Test
    void a_slot_is_spent_for_strangers_after_the_controlling_vm_was_opened_anew() throws Exception {
        DeskWorld.Vm vm = vm();
        HandOver given = vm.calls().isGiven();
        world.reopen();
        DeskWorld.Talk back = vm.callsWith(given);
        back.say(DeskWorld.resume());
        assertThat(back.hears()).isInstanceOf(Readmission.class);
        isDenied(vm().calls(), "spent");
        isHeard(back);
        nothingIsSaid();
    }

    @Test
    void a_worker_whose_hand_over_was_lost_is_known_by_its_key_and_the_queue_hears_it_at_once() throws Exception {
        DeskWorld.Vm vm = vm();
        DeskWorld.Talk lost = vm.calls();
        lost.isGiven();
        isDenied(vm.calls(), "spent");
        lost.ends();
        world.isGone("denied-spent");
    }

    @Test
    void a_worker_that_calls_again_before_its_evidence_has_one_circuit() throws Exception {
        DeskWorld.Vm vm = vm();
        DeskWorld.Talk first = vm.calls();
        Nonce nonce = first.asked();
        DeskWorld.Talk second = vm.calls();
        assertThat(second.asked()).isEqualTo(nonce);
        first.ends();
        second.shows(nonce, UnaryOperator.identity(), world.opening.host);
        assertThat(second.hears()).isInstanceOf(HandOver.class);
        nothingIsSaid();
    }

    @Test
    void of_many_at_once_the_oldest_give_way_and_the_worker_that_comes_then_is_handed_over_to() throws Exception {
        List<DeskWorld.Talk> strangers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            strangers.add(vm().calls());
            strangers.get(i).asked();
        }
        DeskWorld.Talk worker = vm().calls();
        Nonce nonce = worker.asked();
        for (DeskWorld.Talk stranger : strangers.subList(0, 33)) {
            stranger.ends();
        }
        assertThat(strangers.subList(33, 40))
                .as("what a slot has beside its worker")
                .allMatch(each -> each.circuit.channel().isActive());
        worker.shows(nonce, UnaryOperator.identity(), world.opening.host);
        assertThat(worker.hears()).isInstanceOf(HandOver.class);
        for (DeskWorld.Talk stranger : strangers) {
            stranger.ends();
        }
        isHeard(worker);
        nothingIsSaid();
    }

    @Test
    void nothing_is_kept_of_circuits_that_have_ended_nor_of_a_ticket_that_has() throws Exception {
        long before = Retained.by(world.desk);
        for (int i = 0; i < 40; i++) {
            DeskWorld.Talk stranger = vm().calls();
            stranger.asked();
            stranger.circuit.channel().close().sync();
        }
        world.awaits(() -> Retained.by(world.desk) <= before);
        vm().calls().isGiven();
        world.settle(() -> world.desk.forget(BootWorld.TICKET));
        world.awaits(() -> Retained.by(world.desk) < before);
    }

    @Test
    void ten_thousand_keys_leave_nothing_and_each_has_its_own_question_that_stays() throws Exception {
        Expected.Place place = world.place();
        Arriving arriving = world.arriving();
        SigningKey one = SigningKey.of(BootWorld.pair(Curve.P384));
        Nonce first = arriving.question(place, one.verificationKey());
        long before = Retained.by(arriving);
        Set<Nonce> all = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            all.add(arriving.question(
                    place, SigningKey.of(BootWorld.pair(Curve.P256)).verificationKey()));
        }
        assertThat(all).hasSize(10_000).doesNotContain(first);
        assertThat(Retained.by(arriving)).isEqualTo(before);
        assertThat(arriving.question(place, one.verificationKey())).isEqualTo(first);
        assertThat(world.arriving().question(place, one.verificationKey()))
                .as("of another boot")
                .isNotEqualTo(first);
    }
}
