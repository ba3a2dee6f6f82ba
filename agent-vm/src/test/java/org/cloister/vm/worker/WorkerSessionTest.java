package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.admission.RetainedObjectCounter;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.worker.state.WorkerShutdown;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.Test;

/** Tests a worker's session with its controlling VM at the other end. */
class WorkerSessionTest extends WorkerSessionHarness {
    @Test
    void a_worker_whose_evidence_is_accepted_is_given_its_keys_and_joins() throws Exception {
        ready();
        AcceptedHandover handover = machine.handover.orElseThrow();
        assertThat(handover.mungeKey().sameAs(fixture.mungeKey)).isTrue();
        assertThat(handover.handOver().target().vm()).isEqualTo(WorkerFixture.VM);
        assertThat(Files.readAllLines(folder.resolve("run/begun"))).first().isEqualTo("asked worker");
        assertThat(Files.readString(folder.resolve("run/agent-vm.status"))).startsWith("phase ready\n");
        admission.release(WorkerFixture.TICKET);
        assertThat(phases(1)).containsExactly("teardown");
        awaitLog("not clock");
        awaitLog("off");
    }

    @Test
    void a_worker_whose_clock_is_before_its_controlling_vms_certificate_is_asked_nothing_until_it_is_right()
            throws Exception {
        AtomicReference<Duration> behind = new AtomicReference<>(Duration.ofHours(3));
        workersClock = () -> Instant.now().minus(behind.get());
        AtomicInteger requests = new AtomicInteger();
        relay.host = question -> {
            requests.incrementAndGet();
            return fixture.vouch(WorkerFixture.IMAGE, question.claim());
        };
        boot();
        // Long enough for some calls.
        Thread.sleep(2500);
        assertThat(requests).hasValue(0);
        assertThat(machine.log).isEmpty();
        behind.set(Duration.ZERO);
        // The list that came first was not to be trusted either.
        relay.deliver(fixture.revocations);
        next(WorkerEvent.NodeReady.class);
        assertThat(requests).hasValue(1);
    }

    @Test
    void a_worker_whose_clock_is_three_hours_ahead_joins_by_the_time_that_it_is_given() throws Exception {
        workersClock = () -> Instant.now().plus(Duration.ofHours(3));
        ready();
        AcceptedHandover handover = machine.handover.orElseThrow();
        assertThat(handover.issuedAt()).isBetween(Instant.now().minusSeconds(TIMEOUT_S), Instant.now());
        assertThat(handover.expiresAt())
                .isBetween(
                        Instant.now().plus(fixture.lifetime).minusSeconds(2 * TIMEOUT_S),
                        Instant.now().plus(fixture.lifetime));
    }

    @Test
    void a_worker_whose_evidence_is_refused_goes_off() throws Exception {
        relay.host = requests -> fixture.vouch(Digest.sha384("another image"), requests.claim());
        boot();
        assertThat(next(WorkerEvent.NodeGone.class).reason().code()).isEqualTo("denied-image");
        awaitLog("off");
        assertThat(machine.handover).isEmpty();
    }

    @Test
    void a_host_that_vouched_for_other_keys_before_ends_the_worker() throws Exception {
        try (BootKeyPairs before = BootKeyPairs.generate(fixture.secrets)) {
            relay.host = requests -> {
                fixture.vouch(
                        WorkerFixture.IMAGE,
                        new org.cloister.protocol.evidence.AttestationClaims(
                                before.publicKeys(),
                                requests.claim().nonce(),
                                requests.claim().binding()));
                return fixture.vouch(WorkerFixture.IMAGE, requests.claim());
            };
            boot();
            awaitLog("off");
            assertThat(decisions.submit(() -> List.copyOf(events)).get(10, TimeUnit.SECONDS))
                    .as("words of an unauthenticated circuit")
                    .isEmpty();
        }
    }

    @Test
    void a_circuit_that_breaks_is_resumed_and_a_release_of_the_meantime_is_heard() throws Exception {
        ready();
        relay.cut();
        assertThat(next(WorkerEvent.NodeReady.class).slot())
                .as("said again on the circuit that is resumed")
                .isEqualTo(WorkerFixture.SLOT);
        AtomicInteger questions = new AtomicInteger();
        relay.host = requests -> {
            questions.incrementAndGet();
            return fixture.vouch(WorkerFixture.IMAGE, requests.claim());
        };
        relay.cut();
        admission.release(WorkerFixture.TICKET);
        awaitLog("off");
        assertThat(questions).hasValue(0);
    }

    @Test
    void a_circuit_that_breaks_before_the_statement_is_begun_anew_with_the_same_question() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        BlockingQueue<Nonce> nonces = new LinkedBlockingQueue<>();
        relay.host = question -> {
            nonces.add(question.claim().nonce());
            if (requests.getAndIncrement() == 0) {
                relay.cut();
            }
            return fixture.vouch(WorkerFixture.IMAGE, question.claim());
        };
        ready();
        assertThat(nonces).hasSizeGreaterThan(1);
        assertThat(Set.copyOf(nonces)).hasSize(1);
    }

    @Test
    void who_calls_in_the_name_of_no_slot_is_refused_and_counted_and_nothing_is_kept_of_it() throws Exception {
        onDecisionThread(() -> {
            admission.forget(WorkerFixture.TICKET);
            return true;
        });
        boot();
        for (int i = 0; i < 1000 && counts.unauthenticatedPeers().get() < 2; i++) {
            Thread.sleep(10);
        }
        assertThat(counts.unauthenticatedPeers().get()).isGreaterThanOrEqualTo(2);
        assertThat(decisions.submit(() -> RetainedObjectCounter.by(admission)).get(10, TimeUnit.SECONDS))
                .isZero();
        assertThat(machine.log).isEmpty();
        assertThat(events).isEmpty();
    }

    @Test
    void a_step_that_fails_reaches_the_desk_and_the_vm_goes_off() throws Exception {
        machine.fails = Optional.of(SetupStep.STORAGE);
        boot();
        WorkerEvent.EndReason trouble = next(WorkerEvent.NodeGone.class).reason();
        assertThat(trouble.code()).isEqualTo("no-storage");
        assertThat(trouble.phase()).hasToString("registration");
        awaitLog("not storage failed");
        awaitLog("not scratch failed");
        awaitLog("off");
    }

    @Test
    void a_term_signal_leaves_and_takes_the_vm_with_it() throws Exception {
        ready();
        worker.stop(Duration.ofSeconds(TIMEOUT_S));
        assertThat(machine.log).endsWith("not tunnel", "not network", "not clock", "not memory", "off");
    }

    @Test
    void a_worker_whose_host_ends_it_keeps_its_logs_says_its_part_and_goes_off() throws Exception {
        ready();
        relay.end(Duration.ofSeconds(20));
        awaitLog("not slurmd failed");
        awaitLog("not storage failed");
        assertThat(phases(1)).containsExactly("teardown");
        awaitLog("off");
        for (int i = 0; i < 400 && recorder.parts.isEmpty(); i++) {
            Thread.sleep(10);
        }
        assertThat(recorder.parts).hasSize(1);
    }

    @Test
    void a_vm_whose_host_ends_it_before_it_knows_what_it_is_goes_off_and_begins_nothing() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        relay.assignment = question -> {
            // Before the answer, that it is to be asked again.
            if (requests.getAndIncrement() == 0) {
                relay.end(Duration.ofSeconds(20));
            }
            return new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.BUSY);
        };
        boot();
        awaitLog("off");
        relay.assignment = question -> fixture.told();
        // Longer than until it would ask again.
        Thread.sleep(2500);
        assertThat(requests).hasValue(1);
        assertThat(worker).isNull();
    }

    @Test
    void a_worker_without_its_controlling_vm_ends_with_its_lease() throws Exception {
        ready();
        controllers.close();
        // Its controlling VM is gone, and the lease's time is over.
        ahead.set(WorkerFixture.LEASE.toNanos());
        relay.cut();
        awaitLog("not slurmd failed");
        // Nobody takes its part, and it does not wait for that for long.
        for (int i = 0; i < 3; i++) {
            Thread.sleep(1000);
            ahead.addAndGet(WorkerShutdown.REPORT_LIMIT.toNanos());
            // Whatever it hears, it looks at its time.
            worker.onLost("as the test wants it");
        }
        awaitLog("off");
    }

    @Test
    void a_controlling_vm_whose_authority_is_revoked_is_left_and_not_called_again() throws Exception {
        ready();
        assertThat(open("1")).isTrue();
        relay.deliver(fixture.revocation);
        for (int i = 0; i < 400 && !open("0"); i++) {
            Thread.sleep(10);
        }
        // Long enough for the calls of two seconds.
        Thread.sleep(2500);
        assertThat(open("0")).isTrue();
        assertThat(events.stream().filter(WorkerEvent.NodeReady.class::isInstance))
                .isEmpty();
    }

    private boolean open(String flag) {
        return new String(metrics.text(), StandardCharsets.UTF_8).contains("cloister_vm_circuit_open " + flag);
    }

    @Test
    void the_keys_of_the_hand_over_are_gone_when_the_worker_is() throws Exception {
        ready();
        SecretMemory munge = machine.handover.orElseThrow().mungeKey();
        worker.stop(Duration.ofSeconds(TIMEOUT_S));
        org.assertj.core.api.Assertions.assertThatThrownBy(munge::lend).isInstanceOf(IllegalStateException.class);
        assertThat(BootFixture.TICKET).isEqualTo(WorkerFixture.TICKET);
    }
}
