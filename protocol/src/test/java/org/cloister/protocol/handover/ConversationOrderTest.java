package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Test;

class ConversationOrderTest {
    private final ByteString envelope = ByteString.copyFrom(
            DsseEnvelope.sign("application/x", new byte[2], SigningKey.of(BootFixture.pair(SignatureCurve.P384)))
                    .bytes());
    private final VmMessage shown = new VmMessage.Evidence(envelope, BootFixture.NOW);
    private final VmMessage passed = new VmMessage.PhaseCompleted(BootPhase.KEYS, Duration.ZERO);
    private final VmMessage trouble = new VmMessage.Failure(BootPhase.TUNNEL, "no-tunnel");
    private final VmMessage part = new VmMessage.FinalStatement(envelope);
    private final VmMessage opened = new VmMessage.Opened(6, false);
    private final VmMessage resume =
            new VmMessage.Resume(BootFixture.TICKET, 3, HandoverFixture.VM, HandoverFixture.NONCE);
    private final VmMessage readmitted = new VmMessage.Readmitted(HandoverFixture.NONCE);
    private final VmMessage ready = new VmMessage.Ready();
    private final VmMessage beat = new VmMessage.Heartbeat();
    private final HandoverFixture world = new HandoverFixture();
    private final VerifierMessage question = new VerifierMessage.Question(HandoverFixture.NONCE);
    private final VerifierMessage denied = new VerifierMessage.Denied(List.of("image"), "");
    private final VerifierMessage release = new VerifierMessage.Release();

    ConversationOrderTest() throws Exception {}

    private static VmMessageOrder said(VmMessageOrder turns, VmMessage... messages) throws MalformedException {
        for (VmMessage message : messages) {
            turns.accept(message, 0);
        }
        return turns;
    }

    private static VmMessageOrder given(CertificateRole role, VmMessage shown) throws MalformedException {
        VmMessageOrder turns = said(VmMessageOrder.forBoot(role, 0), shown);
        turns.recordHandover();
        return turns;
    }

    private static void refused(VmMessageOrder turns, VmMessage... messages) {
        for (VmMessage message : messages) {
            assertThatThrownBy(() -> turns.accept(message, 0))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want another message");
        }
    }

    @Test
    void a_vm_shows_itself_first_and_once() throws Exception {
        refused(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), passed, ready, beat, part, opened, resume);
        refused(
                said(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), shown),
                shown,
                passed,
                ready,
                beat,
                part,
                resume);
        refused(
                said(
                        VmMessageOrder.forBoot(CertificateRole.WORKER, 0),
                        new VmMessage.NoStatement(EvidenceMessage.RefusalReason.BUSY)),
                shown,
                passed,
                trouble);
        refused(said(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), shown, trouble), shown, part);
    }

    @Test
    void nothing_is_given_to_who_has_shown_nothing_or_twice() throws Exception {
        VmMessageOrder asked = VmMessageOrder.forBoot(CertificateRole.WORKER, 0);
        assertThatThrownBy(asked::recordHandover).isInstanceOf(IllegalStateException.class);
        VmMessageOrder given = given(CertificateRole.WORKER, shown);
        assertThatThrownBy(given::recordHandover).isInstanceOf(IllegalStateException.class);
        VmMessageOrder resuming = said(VmMessageOrder.resuming(0), resume);
        assertThatThrownBy(resuming::recordHandover).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_worker_goes_on_until_its_part() throws Exception {
        VmMessageOrder turns = said(given(CertificateRole.WORKER, shown), passed, beat, ready, beat, passed);
        refused(turns, ready, opened, shown, resume);
        refused(said(turns, trouble, part), beat, part);
        refused(VmMessageOrder.resuming(0), beat, shown, ready, part);
        said(VmMessageOrder.resuming(0), resume, beat, ready, part);
    }

    @Test
    void a_controlling_vm_opens_its_drive_once() throws Exception {
        VmMessageOrder turns = said(given(CertificateRole.CONTROLLER, shown), passed, opened, passed);
        refused(turns, opened, ready, beat, part);
        refused(said(given(CertificateRole.CONTROLLER, shown), trouble), opened, passed);
    }

    @Test
    void a_controlling_vm_that_comes_certified_says_what_became_of_its_drive_and_is_told_nothing() throws Exception {
        refused(VmMessageOrder.forUnlocked(0), shown, ready, beat, part, resume);
        VmMessageOrder turns = said(VmMessageOrder.forUnlocked(0), passed, opened, passed);
        refused(turns, opened);
        assertThatThrownBy(turns::recordHandover).isInstanceOf(IllegalStateException.class);
        refused(VerifierMessageOrder.forUnlocked(), question, release, world.unlock(), world.handOver());
    }

    @Test
    void who_says_too_much_is_cut_and_what_is_unknown_counts() throws Exception {
        VmMessageOrder turns = given(CertificateRole.WORKER, shown);
        for (int i = 1; i < ProtocolLimits.BOOT_MESSAGES; i++) {
            turns.accept(new VmMessage.UnknownMessage(), 0);
        }
        assertThatThrownBy(() -> turns.accept(beat, 0)).hasMessageContaining("at most 100");
        assertThatCode(() -> turns.accept(beat, Duration.ofSeconds(10).toNanos()))
                .doesNotThrowAnyException();
    }

    @Test
    void a_worker_that_resumed_is_readmitted_once_and_says_so_once() throws Exception {
        VmMessageOrder booted = given(CertificateRole.WORKER, shown);
        assertThatThrownBy(booted::recordReadmission).isInstanceOf(IllegalStateException.class);
        refused(booted, readmitted);
        VmMessageOrder resuming = VmMessageOrder.resuming(0);
        assertThatThrownBy(resuming::recordReadmission).isInstanceOf(IllegalStateException.class);
        said(resuming, resume, beat);
        refused(resuming, readmitted);
        resuming.recordReadmission();
        assertThatThrownBy(resuming::recordReadmission).isInstanceOf(IllegalStateException.class);
        said(resuming, ready, beat, readmitted, beat);
        refused(resuming, readmitted);

        VerifierMessage readmission = world.readmission();
        VerifierMessage more = new VerifierMessage.LeaseRenewal();
        refused(VerifierMessageOrder.forBoot(CertificateRole.WORKER), readmission);
        refused(heard(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question, world.handOver()), readmission);
        refused(heard(VerifierMessageOrder.forResume(), more, readmission, more), readmission);
        refused(heard(VerifierMessageOrder.forResume(), release), readmission);
        refused(VerifierMessageOrder.forUnlocked(), readmission);
    }

    private static VerifierMessageOrder heard(VerifierMessageOrder turns, VerifierMessage... messages)
            throws MalformedException {
        for (VerifierMessage message : messages) {
            turns.accept(message);
        }
        return turns;
    }

    private static void refused(VerifierMessageOrder turns, VerifierMessage... messages) {
        for (VerifierMessage message : messages) {
            assertThatThrownBy(() -> turns.accept(message))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want another message");
        }
    }

    @Test
    void a_vm_is_asked_and_then_given_what_is_for_its_role() throws Exception {
        HandoverDocument handOver = world.handOver();
        ProjectUnlock unlock = world.unlock();
        VerifierMessage more = new VerifierMessage.LeaseRenewal();
        refused(VerifierMessageOrder.forBoot(CertificateRole.WORKER), handOver, unlock, release, more);
        refused(heard(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question), question, unlock, release, more);
        refused(
                heard(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question),
                question,
                handOver,
                release,
                more);
        VerifierMessageOrder worker =
                heard(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question, handOver, more);
        refused(worker, handOver, question);
        refused(heard(worker, release), more, denied, release);
        refused(
                heard(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question, unlock),
                unlock,
                release,
                more);
        refused(heard(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question, denied), unlock, denied);
        refused(heard(VerifierMessageOrder.forResume(), more), handOver, question);
    }
}
