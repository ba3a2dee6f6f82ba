package org.cloister.vm.worker.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.Test;

/**
 * Tests when a worker's state machine renews its certificates and keys, and what it does with new ones. Time is the
 * test's.
 */
class WorkerStateMachineRenewalTest {
    private static final Duration LEASE = Duration.ofHours(8);
    private static final Duration RENEWAL = Duration.ofHours(12);
    private static final WorkerStateEvent ANEW =
            new WorkerStateEvent.MessageReceived(WorkerStateEventSamples.READMISSION);
    private static final WorkerStateEvent DONE =
            new WorkerStateEvent.ReadmissionApplied(WorkerStateEventSamples.FRESH, LEASE, RENEWAL);
    private static final WorkerStateAction.Send SENT =
            new WorkerStateAction.Send(new VmMessage.Readmitted(WorkerStateEventSamples.FRESH));

    private long now = 1_000_000_000L;
    private final WorkerStateMachine stateMachine = WorkerStateMachine.create(Duration.ofSeconds(4), now);

    private List<WorkerStateAction> on(WorkerStateEvent event) {
        return stateMachine.on(event, now);
    }

    private List<WorkerStateAction> after(Duration time) {
        now += time.toNanos();
        return on(new WorkerStateEvent.TimerExpired());
    }

    private void given() {
        on(new WorkerStateEvent.ChannelAttached());
        on(new WorkerStateEvent.CircuitOpened(Nonce.random(new SecureRandom())));
        on(new WorkerStateEvent.MessageReceived(new VerifierMessage.Question(WorkerStateEventSamples.NONCE)));
        on(WorkerStateEventSamples.vouched());
        on(new WorkerStateEvent.MessageReceived(WorkerStateEventSamples.HAND_OVER));
        on(new WorkerStateEvent.HandoverAccepted(LEASE, RENEWAL, WorkerStateEventSamples.PLACE));
    }

    private void serving() {
        given();
        for (SetupStep step : SetupStep.values()) {
            on(new WorkerStateEvent.StepApplied(step));
        }
    }

    private void resumed() {
        on(new WorkerStateEvent.CircuitClosed());
        assertThat(after(Duration.ofMinutes(1))).containsExactly(new WorkerStateAction.OpenCircuit(true));
        assertThat(on(new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.FRESH)))
                .contains(new WorkerStateAction.Send(WorkerStateEventSamples.RESUME));
    }

    @Test
    void it_takes_what_comes_and_says_so_and_its_lease_begins_anew() {
        serving();
        resumed();
        assertThat(on(ANEW))
                .containsExactly(new WorkerStateAction.ApplyReadmission(
                        WorkerStateEventSamples.READMISSION, WorkerStateEventSamples.FRESH));
        now += Duration.ofMinutes(2).toNanos();
        assertThat(on(DONE)).startsWith(SENT);
        assertThat(stateMachine.leaseExpiryNs() - now).isEqualTo(LEASE.toNanos());
    }

    @Test
    void while_it_joins_it_takes_it_between_two_steps() {
        given();
        resumed();
        assertThat(on(ANEW)).isEmpty();
        assertThat(on(new WorkerStateEvent.StepApplied(SetupStep.MEMORY)))
                .containsExactly(new WorkerStateAction.ApplyReadmission(
                        WorkerStateEventSamples.READMISSION, WorkerStateEventSamples.FRESH));
        assertThat(on(DONE)).containsExactly(SENT, new WorkerStateAction.ApplyStep(SetupStep.CLOCK));
    }

    @Test
    void what_came_on_a_circuit_goes_with_it() {
        given();
        resumed();
        on(ANEW);
        on(new WorkerStateEvent.CircuitClosed());
        assertThat(on(new WorkerStateEvent.StepApplied(SetupStep.MEMORY)))
                .containsExactly(new WorkerStateAction.ApplyStep(SetupStep.CLOCK));
    }

    @Test
    void that_it_is_done_is_said_on_its_own_circuit_alone() {
        serving();
        resumed();
        on(ANEW);
        on(new WorkerStateEvent.CircuitClosed());
        after(Duration.ofMinutes(1));
        on(new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.NONCE));
        assertThat(on(DONE)).doesNotContain(SENT).isEmpty();
        assertThat(on(ANEW))
                .as("the next one brings its own")
                .containsExactly(new WorkerStateAction.ApplyReadmission(
                        WorkerStateEventSamples.READMISSION, WorkerStateEventSamples.NONCE));
    }

    @Test
    void what_it_cannot_take_ends_it_with_a_word() {
        serving();
        resumed();
        on(ANEW);
        assertThat(on(new WorkerStateEvent.HandoverRejected(BootPhase.TUNNEL, "no-readmission")))
                .startsWith(
                        new WorkerStateAction.Send(new VmMessage.Failure(BootPhase.TUNNEL, "no-readmission")),
                        new WorkerStateAction.StartShutdown("no-readmission", true),
                        new WorkerStateAction.UndoStep(SetupStep.SLURMD, true));
    }

    @Test
    void a_release_in_the_midst_of_it_waits_for_its_end() {
        serving();
        resumed();
        on(ANEW);
        assertThat(on(new WorkerStateEvent.MessageReceived(new VerifierMessage.Release())))
                .containsExactly(new WorkerStateAction.StartShutdown("released", false));
        assertThat(on(DONE)).containsExactly(new WorkerStateAction.UndoStep(SetupStep.SLURMD, false));
    }

    @Test
    void at_half_of_its_certificates_life_it_comes_for_another_by_a_new_circuit() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        List<WorkerStateAction> actions = after(Duration.ofMinutes(1));
        assertThat(actions).contains(new WorkerStateAction.FinishOutput());
        assertThat(stateMachine.isCircuitOpen()).isFalse();
        assertThat(on(new WorkerStateEvent.CircuitClosed())).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new WorkerStateAction.OpenCircuit(true));
        on(new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.FRESH));
        on(ANEW);
        on(DONE);
        beatFor(RENEWAL.minusMinutes(1));
        assertThat(after(Duration.ofMinutes(1))).contains(new WorkerStateAction.FinishOutput());
    }

    @Test
    void when_nothing_comes_of_it_it_tries_again_after_a_while() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        after(Duration.ofMinutes(1));
        on(new WorkerStateEvent.CircuitClosed());
        after(Duration.ofSeconds(1));
        on(new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.FRESH));
        on(new WorkerStateEvent.MessageReceived(new VerifierMessage.LeaseRenewal()));
        assertThat(after(WorkerCertificateRenewal.RETRY_INTERVAL.minusSeconds(2)))
                .doesNotContain(new WorkerStateAction.FinishOutput());
        assertThat(after(Duration.ofSeconds(2))).contains(new WorkerStateAction.FinishOutput());
    }

    @Test
    void words_of_the_end_are_not_lost_between_two_circuits() {
        serving();
        beatFor(RENEWAL.minusMinutes(1));
        after(Duration.ofMinutes(1));
        on(new WorkerStateEvent.StopRequested());
        List<WorkerStateAction> last = List.of();
        for (SetupStep step : List.of(
                SetupStep.SLURMD,
                SetupStep.MUNGE,
                SetupStep.USERS,
                SetupStep.STORAGE,
                SetupStep.NAMES,
                SetupStep.SCRATCH,
                SetupStep.TIME)) {
            last = on(new WorkerStateEvent.StepUndone(step));
        }
        assertThat(last).containsExactly(new WorkerStateAction.SignStatement());
        assertThat(on(new WorkerStateEvent.StatementSigned(Optional.of(WorkerStateEventSamples.STATEMENT))))
                .isEmpty();
        on(new WorkerStateEvent.CircuitClosed());
        assertThat(after(Duration.ofSeconds(1))).contains(new WorkerStateAction.OpenCircuit(true));
        assertThat(on(new WorkerStateEvent.CircuitOpened(WorkerStateEventSamples.FRESH)))
                .contains(new WorkerStateAction.Send(new VmMessage.FinalStatement(WorkerStateEventSamples.STATEMENT)));
    }

    private void beatFor(Duration time) {
        for (Duration left = time; !left.isZero(); left = left.minusMinutes(1)) {
            assertThat(after(Duration.ofMinutes(1))).doesNotContain(new WorkerStateAction.FinishOutput());
            on(new WorkerStateEvent.MessageReceived(new VerifierMessage.LeaseRenewal()));
        }
    }
}
