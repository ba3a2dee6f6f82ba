package org.cloister.vm.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.opening.OpeningWorld;
import org.cloister.vm.worker.WorkerEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers at the desk, in circuits whose both ends are real, and what each is given. */
class HandOverDeskTest {
    private final DeskWorld world;

    HandOverDeskTest(@TempDir Path folder) throws Exception {
        world = new DeskWorld(folder);
    }

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void a_worker_whose_evidence_holds_is_handed_over_to_and_heard_from_then_on() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        DeskWorld.Talk talk = vm.calls();
        HandOver given = talk.isGiven();
        assertThat(given.name()).isEqualTo(world.worker);
        assertThat(given.job().nodes()).hasSize(2);
        assertThat(given.accounts().jobUser().login()).isEqualTo("ben");
        assertThat(given.station().mac()).hasToString("52:54:0a:40:0c:06");
        assertThat(world.access.said).containsExactly("admit " + world.worker.id() + " at 10.64.12.6 as 1002");
        try (SecretMemory opened = new Hpke(world.opening.crypto)
                .open(
                        vm.keys.sealing(),
                        given.sealingContext(),
                        new byte[0],
                        given.mungeKey().bytes().toByteArray())) {
            assertThat(opened.sameAs(world.munge)).isTrue();
        }
        talk.say(new VmMessage.Passed(BootPhase.TUNNEL, Duration.ofSeconds(1)));
        talk.say(new VmMessage.Ready());
        talk.say(new VmMessage.Beat());
        assertThat(talk.hears()).isInstanceOf(VerifierMessage.Beat.class);
        talk.say(new VmMessage.Part(ByteString.copyFrom(
                Envelope.sign("part", new byte[] {1}, world.opening.host).bytes())));
        world.isTold("gave 1 3", "ended 1 part");
        world.settle(() -> assertThat(world.news)
                .hasSize(2)
                .anySatisfy(event -> assertThat(event)
                        .isEqualTo(new WorkerEvent.NodeReady(BootWorld.TICKET, DeskWorld.SLOT, world.worker.id()))));
    }

    @Test
    void each_thing_that_is_not_as_it_should_be_denies_by_its_clause() throws Exception {
        SigningKey stranger = SigningKey.of(BootWorld.pair(Curve.P256));
        assertThat(world.new Vm().calls().isDenied(UnaryOperator.identity(), stranger))
                .containsExactly("signature");
        assertThat(world.new Vm()
                        .calls()
                        .isDenied(
                                s -> DeskWorld.with(s, facts(s, Digest.sha384("other"), DeskWorld.SLOT)),
                                world.opening.host))
                .containsExactly("image");
        assertThat(world.new Vm()
                        .calls()
                        .isDenied(s -> DeskWorld.with(s, facts(s, OpeningWorld.IMAGE, 0)), world.opening.host))
                .containsExactly("slot");
        assertThat(world.new Vm()
                        .calls()
                        .isDenied(
                                s -> DeskWorld.with(
                                        s,
                                        new Claim(
                                                s.claim().keys(),
                                                Nonce.random(new SecureRandom()),
                                                s.claim().binding())),
                                world.opening.host))
                .containsExactly("nonce");
        assertThat(world.new Vm()
                        .calls()
                        .isDenied(
                                s -> DeskWorld.with(
                                        s,
                                        new Claim(
                                                s.claim().keys(),
                                                s.claim().nonce(),
                                                CircuitBinding.of(new byte[1], new byte[2]))),
                                world.opening.host))
                .containsExactly("binding");
        BootKeyPairs others = world.new Vm().keys;
        assertThat(world.new Vm()
                        .calls()
                        .isDenied(
                                s -> DeskWorld.with(
                                        s,
                                        new Claim(
                                                others.shown(),
                                                s.claim().nonce(),
                                                s.claim().binding())),
                                world.opening.host))
                .containsExactly("circuit");
        assertThat(world.access.said).isEmpty();
        assertThat(world.new Vm().calls().isGiven()).as("nothing was spent").isNotNull();
    }

    private static VmFacts facts(Statement statement, Digest image, int slot) {
        VmFacts facts = statement.facts();
        return new VmFacts(
                facts.project(), facts.vm(), facts.role(), facts.ticket(), slot, image, facts.shape(), facts.sharing());
    }

    @Test
    void a_slot_is_handed_over_to_once() throws Exception {
        world.new Vm().calls().isGiven();
        DeskWorld.Talk second = world.new Vm().calls();
        assertThat(((VerifierMessage.Denied) second.hears()).clauses()).containsExactly("spent");
        second.ends();
        assertThat(world.access.said).hasSize(1);
    }

    @Test
    void a_circuit_that_breaks_after_the_question_brings_the_same_question_to_the_same_vm_alone() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        DeskWorld.Talk broken = vm.calls();
        Nonce nonce = broken.asked();
        broken.circuit.channel().close().sync();
        assertThat(world.new Vm().calls().asked()).isNotEqualTo(nonce);
        DeskWorld.Talk again = vm.calls();
        assertThat(again.asked()).isEqualTo(nonce);
        again.shows(nonce, UnaryOperator.identity(), world.opening.host);
        assertThat(again.hears()).isInstanceOf(HandOver.class);
    }

    @Test
    void a_worker_that_was_away_when_it_was_released_hears_so_when_it_comes_back() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        DeskWorld.Talk first = vm.calls();
        HandOver given = first.isGiven();
        first.circuit.channel().close().sync();
        world.settle(() -> world.desk.release(BootWorld.TICKET));
        DeskWorld.Talk second = vm.callsWith(given);
        second.say(DeskWorld.resume());
        assertThat(second.hears()).isInstanceOf(VerifierMessage.Release.class);
    }

    @Test
    void when_a_ticket_ends_its_workers_are_kept_out_and_strangers() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        DeskWorld.Talk talk = vm.calls();
        talk.isGiven();
        world.settle(() -> world.desk.forget(BootWorld.TICKET));
        assertThat(world.access.said).endsWith("dismiss " + world.worker.id());
        talk.say(new VmMessage.Beat());
        talk.ends();
    }

    private void isGivenNothing() throws Exception {
        DeskWorld.Talk talk = world.new Vm().calls();
        talk.shows(talk.asked(), UnaryOperator.identity(), world.opening.host);
        talk.ends();
        assertThat(talk.listener.heard).isEmpty();
        world.settle(() -> assertThat(world.news).hasSize(1).first().isInstanceOf(WorkerEvent.NodeGone.class));
    }

    @Test
    void who_cannot_be_let_in_is_given_nothing() throws Exception {
        world.access.fails = true;
        isGivenNothing();
    }

    @Test
    void who_would_be_in_no_receipt_is_given_nothing() throws Exception {
        world.lives.fails = true;
        isGivenNothing();
    }

    @Test
    void nobody_else_gets_a_circuit_in_a_workers_name() throws Exception {
        DeskWorld.Vm vm = world.new Vm();
        Credential others = Credential.of(
                vm.keys.signing(),
                List.of(BootCertificate.make(
                        SlotName.of(BootWorld.TICKET, 2, world.project),
                        SubjectKey.of(vm.keys.shown().signing()),
                        Signer.of(vm.keys.signing()),
                        OpeningWorld.NOW,
                        new SecureRandom())));
        assertThatThrownBy(() -> world.new Talk(vm, others)).hasMessageContaining("no circuit");
        world.settle(() -> assertThat(world.news).isEmpty());
    }
}
