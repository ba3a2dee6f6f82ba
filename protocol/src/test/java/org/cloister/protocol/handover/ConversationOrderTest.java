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
    private final VmMessage evidence = new VmMessage.Evidence(envelope, BootFixture.NOW);
    private final VmMessage passed = new VmMessage.PhaseCompleted(BootPhase.KEYS, Duration.ZERO);
    private final VmMessage failure = new VmMessage.Failure(BootPhase.TUNNEL, "no-tunnel");
    private final VmMessage part = new VmMessage.FinalStatement(envelope);
    private final VmMessage opened = new VmMessage.Opened(6, false);
    private final VmMessage resume =
            new VmMessage.Resume(BootFixture.TICKET, 3, HandoverFixture.VM, HandoverFixture.NONCE);
    private final VmMessage readmitted = new VmMessage.Readmitted(HandoverFixture.NONCE);
    private final VmMessage ready = new VmMessage.Ready();
    private final VmMessage heartbeat = new VmMessage.Heartbeat();
    private final HandoverFixture world = new HandoverFixture();
    private final VerifierMessage question = new VerifierMessage.Question(HandoverFixture.NONCE);
    private final VerifierMessage denied = new VerifierMessage.Denied(List.of("image"), "");
    private final VerifierMessage release = new VerifierMessage.Release();

    ConversationOrderTest() throws Exception {}

    private static VmMessageOrder accept(VmMessageOrder order, VmMessage... messages) throws MalformedException {
        for (VmMessage message : messages) {
            order.accept(message, 0);
        }
        return order;
    }

    private static VmMessageOrder afterHandover(CertificateRole role, VmMessage evidence) throws MalformedException {
        VmMessageOrder order = accept(VmMessageOrder.forBoot(role, 0), evidence);
        order.recordHandover();
        return order;
    }

    private static void refused(VmMessageOrder order, VmMessage... messages) {
        for (VmMessage message : messages) {
            assertThatThrownBy(() -> order.accept(message, 0))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want another message");
        }
    }

    @Test
    void a_vm_shows_itself_first_and_once() throws Exception {
        refused(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), passed, ready, heartbeat, part, opened, resume);
        refused(
                accept(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), evidence),
                evidence,
                passed,
                ready,
                heartbeat,
                part,
                resume);
        refused(
                accept(
                        VmMessageOrder.forBoot(CertificateRole.WORKER, 0),
                        new VmMessage.NoStatement(EvidenceMessage.RefusalReason.BUSY)),
                evidence,
                passed,
                failure);
        refused(accept(VmMessageOrder.forBoot(CertificateRole.WORKER, 0), evidence, failure), evidence, part);
    }

    @Test
    void nothing_is_given_to_who_has_shown_nothing_or_twice() throws Exception {
        VmMessageOrder order = VmMessageOrder.forBoot(CertificateRole.WORKER, 0);
        assertThatThrownBy(order::recordHandover).isInstanceOf(IllegalStateException.class);
        VmMessageOrder handedOver = afterHandover(CertificateRole.WORKER, evidence);
        assertThatThrownBy(handedOver::recordHandover).isInstanceOf(IllegalStateException.class);
        VmMessageOrder resuming = accept(VmMessageOrder.resuming(0), resume);
        assertThatThrownBy(resuming::recordHandover).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_worker_goes_on_until_its_part() throws Exception {
        VmMessageOrder order =
                accept(afterHandover(CertificateRole.WORKER, evidence), passed, heartbeat, ready, heartbeat, passed);
        refused(order, ready, opened, evidence, resume);
        refused(accept(order, failure, part), heartbeat, part);
        refused(VmMessageOrder.resuming(0), heartbeat, evidence, ready, part);
        accept(VmMessageOrder.resuming(0), resume, heartbeat, ready, part);
    }

    @Test
    void a_controlling_vm_opens_its_drive_once() throws Exception {
        VmMessageOrder order = accept(afterHandover(CertificateRole.CONTROLLER, evidence), passed, opened, passed);
        refused(order, opened, ready, heartbeat, part);
        refused(accept(afterHandover(CertificateRole.CONTROLLER, evidence), failure), opened, passed);
    }

    @Test
    void a_controlling_vm_that_comes_certified_says_what_became_of_its_drive_and_is_told_nothing() throws Exception {
        refused(VmMessageOrder.forUnlocked(0), evidence, ready, heartbeat, part, resume);
        VmMessageOrder order = accept(VmMessageOrder.forUnlocked(0), passed, opened, passed);
        refused(order, opened);
        assertThatThrownBy(order::recordHandover).isInstanceOf(IllegalStateException.class);
        refused(VerifierMessageOrder.forUnlocked(), question, release, world.unlock(), world.handOver());
    }

    @Test
    void an_opener_acknowledges_once_and_only_what_it_has_opened() throws Exception {
        VerifierMessage acknowledgement = new VerifierMessage.Acknowledgement();
        refused(accept(VerifierMessageOrder.forUnlocked(), acknowledgement), acknowledgement);
        VerifierMessageOrder booting = VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER);
        refused(booting, acknowledgement);
        refused(accept(booting, question), acknowledgement);
        refused(accept(booting, world.unlock(), acknowledgement), acknowledgement);
        refused(VerifierMessageOrder.forResume(), acknowledgement);
    }

    @Test
    void who_says_too_much_is_cut_and_what_is_unknown_counts() throws Exception {
        VmMessageOrder order = afterHandover(CertificateRole.WORKER, evidence);
        for (int i = 1; i < ProtocolLimits.BOOT_MESSAGES; i++) {
            order.accept(new VmMessage.UnknownMessage(), 0);
        }
        assertThatThrownBy(() -> order.accept(heartbeat, 0)).hasMessageContaining("at most 100");
        assertThatCode(() -> order.accept(heartbeat, Duration.ofSeconds(10).toNanos()))
                .doesNotThrowAnyException();
    }

    @Test
    void a_worker_that_resumed_is_readmitted_once_and_says_so_once() throws Exception {
        VmMessageOrder booted = afterHandover(CertificateRole.WORKER, evidence);
        assertThatThrownBy(booted::recordReadmission).isInstanceOf(IllegalStateException.class);
        refused(booted, readmitted);
        VmMessageOrder resuming = VmMessageOrder.resuming(0);
        assertThatThrownBy(resuming::recordReadmission).isInstanceOf(IllegalStateException.class);
        accept(resuming, resume, heartbeat);
        refused(resuming, readmitted);
        resuming.recordReadmission();
        assertThatThrownBy(resuming::recordReadmission).isInstanceOf(IllegalStateException.class);
        accept(resuming, ready, heartbeat, readmitted, heartbeat);
        refused(resuming, readmitted);

        VerifierMessage readmission = world.readmission();
        VerifierMessage more = new VerifierMessage.LeaseRenewal();
        refused(VerifierMessageOrder.forBoot(CertificateRole.WORKER), readmission);
        refused(accept(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question, world.handOver()), readmission);
        refused(accept(VerifierMessageOrder.forResume(), more, readmission, more), readmission);
        refused(accept(VerifierMessageOrder.forResume(), release), readmission);
        refused(VerifierMessageOrder.forUnlocked(), readmission);
    }

    private static VerifierMessageOrder accept(VerifierMessageOrder order, VerifierMessage... messages)
            throws MalformedException {
        for (VerifierMessage message : messages) {
            order.accept(message);
        }
        return order;
    }

    private static void refused(VerifierMessageOrder order, VerifierMessage... messages) {
        for (VerifierMessage message : messages) {
            assertThatThrownBy(() -> order.accept(message))
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
        refused(
                accept(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question),
                question,
                unlock,
                release,
                more);
        refused(
                accept(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question),
                question,
                handOver,
                release,
                more);
        VerifierMessageOrder worker =
                accept(VerifierMessageOrder.forBoot(CertificateRole.WORKER), question, handOver, more);
        refused(worker, handOver, question);
        refused(accept(worker, release), more, denied, release);
        refused(
                accept(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question, unlock),
                unlock,
                release,
                more);
        refused(accept(VerifierMessageOrder.forBoot(CertificateRole.CONTROLLER), question, denied), unlock, denied);
        refused(accept(VerifierMessageOrder.forResume(), more), handOver, question);
    }
}
