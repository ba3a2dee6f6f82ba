package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.ticket.Opening;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.junit.jupiter.api.Test;

/** Hand-overs that a controlling VM makes and its worker does not take. */
class HandoverRefusedTest extends WorkerSessionHarness {
    private void refused(String code) throws Exception {
        boot();
        assertThat(next(WorkerEvent.NodeGone.class).reason().code()).isEqualTo(code);
        awaitLog("off");
        assertThat(machine.handover).isEmpty();
    }

    private HandoverDocument at(HandoverDocument handover, HandoverTarget place) throws IOException {
        return fixture.handOver(
                place,
                handover.certificates().stream().map(ByteString::toByteArray).toList(),
                handover.mungeKey().bytes().toByteArray());
    }

    /** Of the same place, with what comes beside it. */
    private static HandoverDocument by(
            HandoverDocument handover, List<byte[]> chain, CertificateName controller, Instant time) {
        return new HandoverDocument(
                handover.target(),
                chain.stream().map(ByteString::copyFrom).toList(),
                handover.mungeKey(),
                time,
                handover.network(),
                controller,
                handover.job(),
                handover.accounts(),
                handover.mounts(),
                handover.lease(),
                handover.policy(),
                handover.digest());
    }

    private interface Change {
        HandoverDocument of(HandoverDocument handover) throws IOException;
    }

    private void change(Change change) {
        fixture.way = handover -> {
            try {
                return change.of(handover);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        };
    }

    @Test
    void a_hand_over_for_another_ticket_is_refused_though_both_have_the_workers_name() throws Exception {
        String other = WorkerFixture.TICKET.substring(0, 16) + "a".repeat(10);
        assertThat(WorkerName.of(other, WorkerFixture.SLOT, fixture.project.id()))
                .isEqualTo(fixture.worker);
        change(handover -> at(
                handover,
                new HandoverTarget(
                        other,
                        WorkerFixture.SLOT,
                        WorkerFixture.VM,
                        handover.target().nonce())));
        refused("for-another-ticket");
    }

    @Test
    void a_hand_over_for_another_slot_is_refused() throws Exception {
        int other = WorkerFixture.SLOT + 1;
        CertificateName worker = WorkerName.of(WorkerFixture.TICKET, other, fixture.project.id());
        change(handover -> fixture.handOver(
                new HandoverTarget(
                        WorkerFixture.TICKET,
                        other,
                        WorkerFixture.VM,
                        handover.target().nonce()),
                fixture.chain(fixture.certify(worker, keys.publicKeys().signing())),
                handover.mungeKey().bytes().toByteArray()));
        refused("for-another-slot");
    }

    @Test
    void a_hand_over_of_another_project_is_refused_by_its_name() throws Exception {
        WorkerFixture other = new WorkerFixture();
        other.mungeKey.close();
        other.newKey.close();
        change(handover -> by(
                handover,
                other.chain(other.certify(other.worker, keys.publicKeys().signing())),
                other.controller,
                handover.time()));
        refused("for-another-name");
    }

    @Test
    void a_hand_over_of_another_controlling_vm_than_the_assignments_is_refused() throws Exception {
        change(handover -> by(
                handover,
                handover.certificates().stream().map(ByteString::toByteArray).toList(),
                Opening.controller("other", fixture.project.id()),
                handover.time()));
        refused("for-another-controller");
    }

    @Test
    void a_certificate_that_is_nobodys_of_the_project_is_refused() throws Exception {
        SigningKey unknownKey = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        CertificateAuthority owner = CertificateAuthority.ofProject(
                fixture.project.id(),
                SubjectPublicKey.of(unknownKey.verificationKey()),
                unknownKey::sign,
                Instant.now(),
                Duration.ofDays(300),
                new SecureRandom());
        WorkerFixture.ControllerBoot nobodys = fixture.openedBy(owner, "mal", Instant.now());
        change(handover -> {
            List<byte[]> chain = new ArrayList<>(nobodys.above());
            chain.add(
                    0,
                    nobodys.authority()
                            .issue(
                                    fixture.worker,
                                    SubjectPublicKey.of(keys.publicKeys().signing()),
                                    Instant.now(),
                                    Duration.ofHours(24)));
            return by(handover, chain, handover.controller(), handover.time());
        });
        refused("certificate");
    }

    @Test
    void a_certificate_that_has_ended_at_the_time_which_comes_with_it_is_refused() throws Exception {
        change(handover -> by(
                handover,
                handover.certificates().stream().map(ByteString::toByteArray).toList(),
                handover.controller(),
                handover.time().plus(fixture.lifetime).plusSeconds(60)));
        refused("certificate");
    }

    @Test
    void a_hand_over_for_another_vm_is_refused() throws Exception {
        change(handover -> at(
                handover,
                new HandoverTarget(
                        WorkerFixture.TICKET,
                        WorkerFixture.SLOT,
                        "a".repeat(26),
                        handover.target().nonce())));
        refused("for-another-vm");
    }

    @Test
    void a_hand_over_of_another_conversation_is_refused() throws Exception {
        change(handover -> at(
                handover,
                new HandoverTarget(
                        WorkerFixture.TICKET, WorkerFixture.SLOT, WorkerFixture.VM, Nonce.random(new SecureRandom()))));
        refused("nonce");
    }

    @Test
    void a_certificate_for_another_key_is_refused() throws Exception {
        try (BootKeyPairs other = BootKeyPairs.generate(fixture.secrets)) {
            change(handover -> fixture.handOver(
                    handover.target(),
                    fixture.chain(
                            fixture.certify(fixture.worker, other.publicKeys().signing())),
                    handover.mungeKey().bytes().toByteArray()));
            refused("certificate-key");
        }
    }

    @Test
    void a_key_that_was_sealed_for_something_else_is_refused() throws Exception {
        change(handover -> fixture.handOver(
                handover.target(),
                handover.certificates().stream().map(ByteString::toByteArray).toList(),
                fixture.sealed(
                        new HandoverTarget(
                                WorkerFixture.TICKET,
                                WorkerFixture.SLOT + 1,
                                WorkerFixture.VM,
                                handover.target().nonce()),
                        keys.publicKeys().sealing())));
        refused("munge-key");
    }

    @Test
    void a_key_that_was_sealed_to_another_vm_is_refused() throws Exception {
        try (BootKeyPairs other = BootKeyPairs.generate(fixture.secrets)) {
            change(handover -> fixture.handOver(
                    handover.target(),
                    handover.certificates().stream()
                            .map(ByteString::toByteArray)
                            .toList(),
                    fixture.sealed(handover.target(), other.publicKeys().sealing())));
            refused("munge-key");
        }
    }
}
