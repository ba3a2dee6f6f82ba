package org.cloister.vm.opening;

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
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitPair;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.vm.boot.Listener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The whole boot conversation of a controlling VM, in circuits whose both ends are real. */
@SuppressWarnings("FutureReturnValueIgnored") // what is not said is not answered
class OpeningDeskTest {
    private static final Nonce NONCE = Nonce.random(new SecureRandom());

    private final OpeningWorld world = new OpeningWorld();
    private final CircuitPair circuits = new CircuitPair();
    private final ExecutorService work = Executors.newSingleThreadExecutor();
    private final List<Unlocked> opened = new CopyOnWriteArrayList<>();
    private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();
    private final List<Claim> claims = new ArrayList<>();
    private Optional<IOException> hostRefuses = Optional.empty();
    private Optional<UnlockRefused> opensNot = Optional.empty();
    private OpeningDesk desk;

    OpeningDeskTest() throws Exception {}

    @BeforeEach
    void open() throws Exception {
        desk = new OpeningDesk(
                new OpeningDesk.Terms(
                        world.self(),
                        world.keys.shown(),
                        world.bootCredential(),
                        Trust.in(world.beliefs(), Set.of(Role.OPENER))),
                this::vouch,
                unlocked -> {
                    if (opensNot.isPresent()) {
                        throw opensNot.get();
                    }
                    opened.add(unlocked);
                    return new VmMessage.Opened(6, false);
                },
                work,
                () -> OpeningWorld.NOW,
                ended::add);
    }

    @AfterEach
    void close() {
        circuits.close();
        work.shutdownNow();
        world.keys.close();
    }

    private Future<Envelope> vouch(Claim claim) {
        claims.add(claim);
        if (hostRefuses.isPresent()) {
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(hostRefuses.get());
        }
        VmFacts facts = new VmFacts(
                world.made.history().id(),
                OpeningWorld.VM,
                VmRole.CONTROLLER,
                BootWorld.OPENING,
                0,
                OpeningWorld.IMAGE,
                new Shape(2, 4096, 0),
                Sharing.NONE);
        try {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(Envelope.sign(
                    Statement.TYPE,
                    new Statement("node17", facts, claim, OpeningWorld.NOW, List.of()).json(),
                    world.host));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** An opener's end. */
    private final class Opener {
        final Listener<VmMessage> listener = new Listener<>(VmMessage.class);
        final Circuit circuit;

        Opener() throws Exception {
            var ends = circuits.open(
                    new CircuitTerms(world.opener, world.controller, Digest.sha384("policy")),
                    new CircuitPair.End(
                            world.openers(),
                            BootTrust.booting().only(world.controller),
                            (pipeline, own) -> pipeline.addLast(
                                    new Framing(LinkLimits.FROM_BOOTING_BYTES, VmMessage::read), listener)),
                    new CircuitPair.End(
                            world.bootCredential(),
                            Trust.in(world.beliefs(), Set.of(Role.OPENER)).only(world.opener),
                            desk::install));
            circuit = ends.opener();
        }

        void say(VerifierMessage message) {
            circuit.channel().writeAndFlush(Framing.frame(message.wire()));
        }

        VmMessage hears() throws InterruptedException {
            return listener.hears();
        }

        Place shown() throws Exception {
            say(new VerifierMessage.Question(NONCE));
            assertThat(hears()).isInstanceOf(VmMessage.Shown.class);
            return new Place(BootWorld.OPENING, 0, OpeningWorld.VM, NONCE);
        }

        void unlock(Place at) throws Exception {
            try (var key = world.secrets.random(64)) {
                say(world.unlock(key, at));
            }
        }
    }

    @Test
    void a_vm_shows_its_evidence_and_is_opened() throws Exception {
        Opener opener = new Opener();
        opener.unlock(opener.shown());
        assertThat(opener.hears())
                .isInstanceOfSatisfying(
                        VmMessage.Passed.class,
                        passed -> assertThat(passed.phase()).isEqualTo(BootPhase.KEYS));
        assertThat(opener.hears()).isInstanceOf(VmMessage.Passed.class);
        assertThat(opener.hears()).isEqualTo(new VmMessage.Opened(6, false));
        assertThat(opened).hasSize(1);
        assertThat(claims.get(0).keys()).isEqualTo(world.keys.shown());
        assertThat(ended).isEmpty();
    }

    @Test
    void who_asks_again_hears_that_it_is_open_and_nothing_is_opened_twice() throws Exception {
        Opener first = new Opener();
        first.unlock(first.shown());
        Opener second = new Opener();
        second.unlock(second.shown());
        assertThat(second.hears()).isInstanceOf(VmMessage.Passed.class);
        assertThat(second.hears()).isEqualTo(new VmMessage.Opened(6, false));
        assertThat(opened).hasSize(1);
        world.epoch = 9;
        Opener third = new Opener();
        third.unlock(third.shown());
        assertThat(third.hears()).isInstanceOf(VmMessage.Passed.class);
        assertThat(third.hears()).isEqualTo(new VmMessage.Trouble(BootPhase.KEYS, "opened"));
        assertThat(opened).hasSize(1);
        assertThat(ended).as("a VM that is open goes on").isEmpty();
    }

    @Test
    void what_is_refused_is_said_in_its_word_and_the_vm_ends() throws Exception {
        world.policySigner = world.host;
        Opener opener = new Opener();
        opener.unlock(opener.shown());
        assertThat(opener.hears()).isEqualTo(new VmMessage.Trouble(BootPhase.KEYS, "policy"));
        opener.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS);
        assertThat(opened).isEmpty();
        assertThat(ended.poll(20, TimeUnit.SECONDS)).startsWith("not opened: policy");
        assertThat(ended).isEmpty();
    }

    @Test
    void a_drive_that_is_refused_is_said_in_its_phase() throws Exception {
        opensNot = Optional.of(new UnlockRefused(BootPhase.DRIVE, "drive-epoch", new IOException("test")));
        Opener opener = new Opener();
        opener.unlock(opener.shown());
        assertThat(opener.hears()).isInstanceOf(VmMessage.Passed.class);
        assertThat(opener.hears()).isEqualTo(new VmMessage.Trouble(BootPhase.DRIVE, "drive-epoch"));
    }

    @Test
    void a_host_that_is_busy_is_asked_again_and_one_that_vouched_for_others_ends_the_vm() throws Exception {
        hostRefuses = Optional.of(new NoEvidence(EvidenceMessage.Why.BUSY));
        Opener busy = new Opener();
        busy.say(new VerifierMessage.Question(NONCE));
        assertThat(busy.hears()).isEqualTo(new VmMessage.NoStatement(EvidenceMessage.Why.BUSY));
        assertThat(ended).isEmpty();
        hostRefuses = Optional.of(new NoEvidence(EvidenceMessage.Why.ANOTHER));
        Opener other = new Opener();
        other.say(new VerifierMessage.Question(NONCE));
        assertThat(other.hears()).isEqualTo(new VmMessage.NoStatement(EvidenceMessage.Why.ANOTHER));
        work.submit(() -> {}).get(20, TimeUnit.SECONDS);
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThat(ended).isEmpty();
    }

    @Test
    void an_unlocking_without_evidence_ends_the_circuit() throws Exception {
        Opener opener = new Opener();
        opener.unlock(world.place);
        assertThat(opener.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(opener.listener.heard).isEmpty();
        assertThat(opened).isEmpty();
    }
}
