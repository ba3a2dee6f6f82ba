package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.LinkLimits;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private final ByteString envelope =
            ByteString.copyFrom(Envelope.sign("application/x", new byte[2], SigningKey.of(BootWorld.pair(Curve.P384)))
                    .bytes());
    private final VmMessage shown = new VmMessage.Shown(envelope, BootWorld.NOW);
    private final VmMessage passed = new VmMessage.Passed(BootPhase.KEYS, Duration.ZERO);
    private final VmMessage trouble = new VmMessage.Trouble(BootPhase.TUNNEL, "no-tunnel");
    private final VmMessage part = new VmMessage.Part(envelope);
    private final VmMessage opened = new VmMessage.Opened(6, false);
    private final VmMessage resume = new VmMessage.Resume(BootWorld.TICKET, 3, HandOverWorld.VM, HandOverWorld.NONCE);
    private final VmMessage readmitted = new VmMessage.Readmitted(HandOverWorld.NONCE);
    private final VmMessage ready = new VmMessage.Ready();
    private final VmMessage beat = new VmMessage.Beat();
    private final HandOverWorld world = new HandOverWorld();
    private final VerifierMessage question = new VerifierMessage.Question(HandOverWorld.NONCE);
    private final VerifierMessage denied = new VerifierMessage.Denied(List.of("image"), "");
    private final VerifierMessage release = new VerifierMessage.Release();

    TurnsTest() throws Exception {}

    private static VmTurns said(VmTurns turns, VmMessage... messages) throws MalformedException {
        for (VmMessage message : messages) {
            turns.heard(message, 0);
        }
        return turns;
    }

    private static VmTurns given(Role role, VmMessage shown) throws MalformedException {
        VmTurns turns = said(VmTurns.asked(role, 0), shown);
        turns.given();
        return turns;
    }

    private static void refused(VmTurns turns, VmMessage... messages) {
        for (VmMessage message : messages) {
            assertThatThrownBy(() -> turns.heard(message, 0))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want another message");
        }
    }

    @Test
    void a_vm_shows_itself_first_and_once() throws Exception {
        refused(VmTurns.asked(Role.WORKER, 0), passed, ready, beat, part, opened, resume);
        refused(said(VmTurns.asked(Role.WORKER, 0), shown), shown, passed, ready, beat, part, resume);
        refused(
                said(VmTurns.asked(Role.WORKER, 0), new VmMessage.NoStatement(EvidenceMessage.Why.BUSY)),
                shown,
                passed,
                trouble);
        refused(said(VmTurns.asked(Role.WORKER, 0), shown, trouble), shown, part);
    }

    @Test
    void nothing_is_given_to_who_has_shown_nothing_or_twice() throws Exception {
        VmTurns asked = VmTurns.asked(Role.WORKER, 0);
        assertThatThrownBy(asked::given).isInstanceOf(IllegalStateException.class);
        VmTurns given = given(Role.WORKER, shown);
        assertThatThrownBy(given::given).isInstanceOf(IllegalStateException.class);
        VmTurns resuming = said(VmTurns.resuming(0), resume);
        assertThatThrownBy(resuming::given).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_worker_goes_on_until_its_part() throws Exception {
        VmTurns turns = said(given(Role.WORKER, shown), passed, beat, ready, beat, passed);
        refused(turns, ready, opened, shown, resume);
        refused(said(turns, trouble, part), beat, part);
        refused(VmTurns.resuming(0), beat, shown, ready, part);
        said(VmTurns.resuming(0), resume, beat, ready, part);
    }

    @Test
    void a_controlling_vm_opens_its_drive_once() throws Exception {
        VmTurns turns = said(given(Role.CONTROLLER, shown), passed, opened, passed);
        refused(turns, opened, ready, beat, part);
        refused(said(given(Role.CONTROLLER, shown), trouble), opened, passed);
    }

    @Test
    void a_controlling_vm_that_comes_certified_says_what_became_of_its_drive_and_is_told_nothing() throws Exception {
        refused(VmTurns.unlocked(0), shown, ready, beat, part, resume);
        VmTurns turns = said(VmTurns.unlocked(0), passed, opened, passed);
        refused(turns, opened);
        assertThatThrownBy(turns::given).isInstanceOf(IllegalStateException.class);
        refused(VerifierTurns.unlocked(), question, release, world.unlock(), world.handOver());
    }

    @Test
    void who_says_too_much_is_cut_and_what_is_unknown_counts() throws Exception {
        VmTurns turns = given(Role.WORKER, shown);
        for (int i = 1; i < LinkLimits.BOOT_WORDS; i++) {
            turns.heard(new VmMessage.Skipped(), 0);
        }
        assertThatThrownBy(() -> turns.heard(beat, 0)).hasMessageContaining("at most 100");
        assertThatCode(() -> turns.heard(beat, Duration.ofSeconds(10).toNanos()))
                .doesNotThrowAnyException();
    }

    @Test
    void a_worker_that_resumed_is_readmitted_once_and_says_so_once() throws Exception {
        VmTurns booted = given(Role.WORKER, shown);
        assertThatThrownBy(booted::readmitting).isInstanceOf(IllegalStateException.class);
        refused(booted, readmitted);
        VmTurns resuming = VmTurns.resuming(0);
        assertThatThrownBy(resuming::readmitting).isInstanceOf(IllegalStateException.class);
        said(resuming, resume, beat);
        refused(resuming, readmitted);
        resuming.readmitting();
        assertThatThrownBy(resuming::readmitting).isInstanceOf(IllegalStateException.class);
        said(resuming, ready, beat, readmitted, beat);
        refused(resuming, readmitted);

        VerifierMessage readmission = world.readmission();
        VerifierMessage more = new VerifierMessage.Beat();
        refused(VerifierTurns.booting(Role.WORKER), readmission);
        refused(heard(VerifierTurns.booting(Role.WORKER), question, world.handOver()), readmission);
        refused(heard(VerifierTurns.resuming(), more, readmission, more), readmission);
        refused(heard(VerifierTurns.resuming(), release), readmission);
        refused(VerifierTurns.unlocked(), readmission);
    }

    private static VerifierTurns heard(VerifierTurns turns, VerifierMessage... messages) throws MalformedException {
        for (VerifierMessage message : messages) {
            turns.heard(message);
        }
        return turns;
    }

    private static void refused(VerifierTurns turns, VerifierMessage... messages) {
        for (VerifierMessage message : messages) {
            assertThatThrownBy(() -> turns.heard(message))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want another message");
        }
    }

    @Test
    void a_vm_is_asked_and_then_given_what_is_for_its_role() throws Exception {
        HandOver handOver = world.handOver();
        Unlock unlock = world.unlock();
        VerifierMessage more = new VerifierMessage.Beat();
        refused(VerifierTurns.booting(Role.WORKER), handOver, unlock, release, more);
        refused(heard(VerifierTurns.booting(Role.WORKER), question), question, unlock, release, more);
        refused(heard(VerifierTurns.booting(Role.CONTROLLER), question), question, handOver, release, more);
        VerifierTurns worker = heard(VerifierTurns.booting(Role.WORKER), question, handOver, more);
        refused(worker, handOver, question);
        refused(heard(worker, release), more, denied, release);
        refused(heard(VerifierTurns.booting(Role.CONTROLLER), question, unlock), unlock, release, more);
        refused(heard(VerifierTurns.booting(Role.CONTROLLER), question, denied), unlock, denied);
        refused(heard(VerifierTurns.resuming(), more), handOver, question);
    }
}
