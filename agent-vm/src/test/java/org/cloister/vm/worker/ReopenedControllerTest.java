package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.junit.jupiter.api.Test;

/** A worker whose controlling VM is opened anew under the same name, by another opener. */
class ReopenedControllerTest extends WorkerSessionHarness {
    private AcceptedHandover first() throws Exception {
        ready();
        return machine.handover.orElseThrow();
    }

    private void comesBack() throws Exception {
        reopen();
        relay.cut();
    }

    @Test
    void it_is_given_a_certificate_of_the_new_authority_and_the_new_munge_key_and_is_a_node_then() throws Exception {
        AcceptedHandover before = first();
        comesBack();
        awaitLog("readmitted by another");
        assertThat(next(WorkerEvent.NodeReady.class).slot()).isEqualTo(WorkerFixture.SLOT);
        AcceptedHandover handover = machine.handover.orElseThrow();
        assertThat(handover.mungeKey().sameAs(fixture.newKey)).isTrue();
        assertThat(handover.handOver()).isSameAs(before.handOver());
        assertThat(handover.policy()).isEqualTo(Digest.sha384("policy of later"));
        assertThat(handover.authorities())
                .as("the new one, and that of nodes which are not back yet")
                .containsExactly(
                        ByteString.copyFrom(fixture.reopened.above().get(0)),
                        before.certificates().get(1));
        assertThat(handover.credential().chain().get(0).getPublicKey())
                .isEqualTo(before.credential().chain().get(0).getPublicKey());
        assertThatThrownBy(before.mungeKey()::lend).isInstanceOf(IllegalStateException.class);
        admission.release(WorkerFixture.TICKET);
        awaitLog("off");
    }

    @Test
    void a_circuit_that_breaks_after_that_brings_nothing_again() throws Exception {
        first();
        comesBack();
        awaitLog("readmitted by another");
        next(WorkerEvent.NodeReady.class);
        relay.cut();
        next(WorkerEvent.NodeReady.class);
        assertThat(machine.log).doesNotContain("readmitted", "readmitted by another");
        reopen();
        relay.cut();
        awaitLog("readmitted by another");
    }

    @Test
    void one_whose_certificate_ends_soon_is_given_another_and_munge_goes_on() throws Exception {
        fixture.lifetime = Duration.ofHours(12);
        AcceptedHandover before = first();
        fixture.lifetime = Duration.ofHours(24);
        relay.cut();
        awaitLog("readmitted");
        AcceptedHandover handover = machine.handover.orElseThrow();
        assertThat(Duration.between(before.expiresAt(), handover.expiresAt())).isGreaterThan(Duration.ofHours(11));
        assertThat(handover.mungeKey()).isSameAs(before.mungeKey());
        assertThat(handover.authorities()).isEqualTo(before.authorities());
        relay.cut();
        next(WorkerEvent.NodeReady.class);
        assertThat(machine.log).doesNotContain("readmitted", "readmitted by another");
    }

    @Test
    void a_worker_that_the_book_does_not_have_goes_off() throws Exception {
        first();
        for (Path file : files()) {
            Files.delete(file);
        }
        comesBack();
        awaitLog("off");
        assertThat(machine.log).doesNotContain("readmitted by another");
    }

    @Test
    void a_worker_whose_user_is_no_member_any_more_goes_off_and_the_queue_hears_why() throws Exception {
        first();
        fixture.welcome = false;
        comesBack();
        assertThat(next(WorkerEvent.NodeGone.class).reason().code()).isEqualTo("denied-no-member");
        awaitLog("off");
    }

    @Test
    void a_key_that_was_sealed_for_another_circuit_is_refused() throws Exception {
        first();
        fixture.wayBack = handover -> with(
                handover,
                new HandoverTarget(
                        WorkerFixture.TICKET,
                        WorkerFixture.SLOT,
                        WorkerFixture.VM,
                        handover.target().nonce()));
        comesBack();
        assertThat(next(WorkerEvent.NodeGone.class).reason().code()).isEqualTo("munge-key");
        awaitLog("off");
    }

    @Test
    void an_answer_to_another_circuit_is_refused() throws Exception {
        first();
        fixture.wayBack = handover -> new ReadmissionGrant(
                new HandoverTarget(
                        WorkerFixture.TICKET, WorkerFixture.SLOT, WorkerFixture.VM, Nonce.random(new SecureRandom())),
                handover.certificates(),
                handover.mungeKey(),
                handover.time(),
                handover.lease(),
                handover.policy());
        comesBack();
        assertThat(next(WorkerEvent.NodeGone.class).reason().code()).isEqualTo("nonce");
        awaitLog("off");
    }

    @Test
    void what_cannot_be_changed_in_the_machine_ends_it_with_a_word() throws Exception {
        first();
        machine.readmissionFails = true;
        comesBack();
        WorkerEvent.EndReason trouble = next(WorkerEvent.NodeGone.class).reason();
        assertThat(trouble.code()).isEqualTo("no-readmission");
        assertThat(trouble.phase()).hasToString("tunnel");
        awaitLog("not slurmd failed");
        awaitLog("off");
    }

    @Test
    void a_release_of_the_time_before_is_heard_and_nothing_given() throws Exception {
        first();
        reopen();
        onDecisionThread(() -> {
            admission.release(WorkerFixture.TICKET);
            return true;
        });
        relay.cut();
        awaitLog("off");
        assertThat(machine.log).doesNotContain("readmitted by another");
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(folder.resolve("guests"))) {
            return all.toList();
        }
    }

    /** Its key sealed for a hand-over. */
    private ReadmissionGrant with(ReadmissionGrant handover, HandoverTarget place) {
        try (SecretMemory key = fixture.secrets.random(128)) {
            byte[] sealed = fixture.sealed(
                    SealingContext.handOver(fixture.project.id(), place),
                    keys.publicKeys().sealing(),
                    key);
            return new ReadmissionGrant(
                    handover.target(),
                    handover.certificates(),
                    Optional.of(new SealedSecret(ByteString.copyFrom(sealed))),
                    handover.time(),
                    handover.lease(),
                    handover.policy());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
