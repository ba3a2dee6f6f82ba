package org.cloister.vm.worker.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage.RefusalReason;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.state.WorkerStateAction.AcceptHandover;
import org.cloister.vm.worker.state.WorkerStateAction.FinishOutput;
import org.cloister.vm.worker.state.WorkerStateAction.OpenCircuit;
import org.cloister.vm.worker.state.WorkerStateAction.RequestEvidence;
import org.cloister.vm.worker.state.WorkerStateAction.SignStatement;
import org.cloister.vm.worker.state.WorkerStateAction.StartShutdown;
import org.cloister.vm.worker.state.WorkerStateAction.Terminate;
import org.cloister.vm.worker.state.WorkerStateAction.UndoStep;
import org.cloister.vm.worker.state.WorkerStateEvent.ChannelAttached;
import org.cloister.vm.worker.state.WorkerStateEvent.ChannelLost;
import org.cloister.vm.worker.state.WorkerStateEvent.CircuitClosed;
import org.cloister.vm.worker.state.WorkerStateEvent.CircuitOpened;
import org.cloister.vm.worker.state.WorkerStateEvent.EvidenceRefused;
import org.cloister.vm.worker.state.WorkerStateEvent.HandoverAccepted;
import org.cloister.vm.worker.state.WorkerStateEvent.HandoverRejected;
import org.cloister.vm.worker.state.WorkerStateEvent.MessageReceived;
import org.cloister.vm.worker.state.WorkerStateEvent.StatementSigned;
import org.cloister.vm.worker.state.WorkerStateEvent.StepApplied;
import org.cloister.vm.worker.state.WorkerStateEvent.StepFailed;
import org.cloister.vm.worker.state.WorkerStateEvent.StepUndone;
import org.cloister.vm.worker.state.WorkerStateEvent.StopRequested;
import org.cloister.vm.worker.state.WorkerStateEvent.TimerExpired;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker's course from its assignment to its end, with every failure on the way. Time is the test's. */
class WorkerStateMachineTest extends WorkerStateMachineFixture {
    @Test
    void a_worker_joins_serves_and_leaves_when_it_is_released() {
        ready();
        assertThat(said()).contains(new VmMessage.PhaseCompleted(BootPhase.TUNNEL, Duration.ZERO));
        assertThat(on(new MessageReceived(new VerifierMessage.Release())))
                .containsExactly(new StartShutdown("released", false), new UndoStep(SetupStep.SLURMD, false));
        assertThat(leaves()).isEqualTo(backFrom(SetupStep.SLURMD));
        assertThat(actions).endsWith(new UndoStep(SetupStep.MEMORY, false), new Terminate(true, "released"));
        List<VmMessage> messages = said();
        assertThat(messages.get(messages.size() - 1)).isEqualTo(new VmMessage.FinalStatement(statement));
        assertThat(messages.get(messages.size() - 2))
                .isEqualTo(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, Duration.ZERO));
        // The last words come when the job's part is gone, and before the way is.
        assertThat(actions.indexOf(say(new VmMessage.FinalStatement(statement))))
                .isGreaterThan(actions.indexOf(new UndoStep(SetupStep.SCRATCH, false)))
                .isLessThan(actions.indexOf(new UndoStep(SetupStep.TUNNEL, false)));
        assertThat(on(new StopRequested())).isEmpty();
        assertThat(stateMachine.wakeNs()).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @EnumSource(SetupStep.class)
    void a_step_that_fails_is_said_and_all_is_taken_back(SetupStep step) {
        upTo(step);
        assertThat(on(new StepFailed(step)))
                .contains(say(new VmMessage.Failure(step.phase(), step.code())), new StartShutdown(step.code(), true));
        assertThat(leaves()).isEqualTo(backFrom(step));
        assertThat(said()).endsWith(new VmMessage.FinalStatement(statement)).doesNotContain(new VmMessage.Ready());
        assertThat(actions).endsWith(new Terminate(true, step.code()));
    }

    @ParameterizedTest
    @EnumSource(SetupStep.class)
    void who_is_released_in_the_middle_of_a_step_waits_for_its_end(SetupStep step) {
        upTo(step);
        assertThat(on(new MessageReceived(new VerifierMessage.Release())))
                .containsExactly(new StartShutdown("released", false));
        assertThat(on(new StepApplied(step))).hasSize(1);
        assertThat(leaves()).isEqualTo(backFrom(step));
        assertThat(actions).endsWith(new Terminate(true, "released"));
    }

    @Test
    void a_hand_over_that_is_not_taken_is_said_and_there_is_no_part() {
        given();
        assertThat(on(new HandoverRejected(BootPhase.KEYS, "nonce")))
                .containsExactly(
                        say(new VmMessage.Failure(BootPhase.KEYS, "nonce")),
                        new StartShutdown("nonce", true),
                        new FinishOutput());
        assertThat(on(new CircuitClosed())).containsExactly(new Terminate(true, "nonce"));
    }

    private void isNotTaken() {
        long wake = stateMachine.wakeNs();
        assertThat(on(new MessageReceived(handOver))).isEmpty();
        assertThat(stateMachine.wakeNs()).isEqualTo(wake);
    }

    @Test
    void a_hand_over_that_nobody_has_asked_for_is_not_taken() {
        shown();
        on(new CircuitClosed());
        after(Duration.ofSeconds(1));
        on(new CircuitOpened(WorkerStateEventSamples.FRESH));
        isNotTaken();
        assertThat(on(new MessageReceived(new VerifierMessage.Question(NONCE))))
                .containsExactly(new RequestEvidence(NONCE));
    }

    @Test
    void a_hand_over_that_comes_again_is_not_taken_and_the_worker_goes_on() {
        given();
        isNotTaken();
        on(new HandoverAccepted(LEASE, RENEWAL, WorkerStateEventSamples.PLACE));
        for (SetupStep step : SetupStep.values()) {
            isNotTaken();
            on(new StepApplied(step));
        }
        assertThat(actions).endsWith(say(new VmMessage.Ready()));
        isNotTaken();
        on(new MessageReceived(new VerifierMessage.Release()));
        isNotTaken();
        assertThat(leaves()).isEqualTo(backFrom(SetupStep.SLURMD));
        isNotTaken();
        assertThat(actions)
                .endsWith(new Terminate(true, "released"))
                .filteredOn(AcceptHandover.class::isInstance)
                .hasSize(1);
    }

    @Test
    void who_is_denied_goes_off_and_says_nothing() {
        shown();
        assertThat(on(new MessageReceived(new VerifierMessage.Denied(List.of("image"), "see the log"))))
                .containsExactly(new StartShutdown("denied", true), new FinishOutput());
        assertThat(on(new CircuitClosed())).containsExactly(new Terminate(true, "denied"));
    }

    @Test
    void a_host_that_vouched_for_another_is_the_end() {
        question();
        assertThat(on(new EvidenceRefused(NONCE, Optional.of(RefusalReason.ANOTHER))))
                .containsExactly(
                        say(new VmMessage.NoStatement(RefusalReason.ANOTHER)),
                        new StartShutdown("no-statement", true),
                        new FinishOutput());
        assertThat(on(new CircuitClosed())).containsExactly(new Terminate(true, "no-statement"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"BUSY", "FAILED", ""})
    void a_host_that_cannot_vouch_now_is_asked_again_and_then_on_another_circuit(String why) {
        question();
        Optional<RefusalReason> word = why.isEmpty() ? Optional.empty() : Optional.of(RefusalReason.valueOf(why));
        assertThat(on(new EvidenceRefused(NONCE, word))).isEmpty();
        assertThat(after(Duration.ofMillis(999))).isEmpty();
        assertThat(after(Duration.ofMillis(1))).containsExactly(new RequestEvidence(NONCE));
        on(new EvidenceRefused(NONCE, word));
        actions.clear();
        now += AttestationRequest.LIMIT.toNanos();
        assertThat(on(new TimerExpired()))
                .contains(say(new VmMessage.NoStatement(RefusalReason.FAILED)), new FinishOutput());
        on(new CircuitClosed());
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new OpenCircuit(false));
    }

    @Test
    void a_circuit_that_breaks_before_the_hand_over_is_begun_anew_at_a_pace() {
        shown();
        on(new CircuitClosed());
        Duration pause = Duration.ofSeconds(1);
        for (int i = 0; i < 8; i++) {
            assertThat(stateMachine.wakeNs()).isEqualTo(now + pause.toNanos());
            assertThat(after(pause.minusNanos(1))).isEmpty();
            assertThat(after(Duration.ofNanos(1))).containsExactly(new OpenCircuit(false));
            assertThat(on(new CircuitClosed())).isEmpty();
            pause = pause.multipliedBy(2).compareTo(Duration.ofSeconds(30)) > 0
                    ? Duration.ofSeconds(30)
                    : pause.multipliedBy(2);
        }
        after(pause);
        on(new CircuitOpened(WorkerStateEventSamples.FRESH));
        // What was asked on the circuit before is nobody's answer any more.
        assertThat(on(vouched())).isEmpty();
        assertThat(on(new MessageReceived(new VerifierMessage.Question(NONCE))))
                .containsExactly(new RequestEvidence(NONCE));
        assertThat(on(vouched())).hasSize(1);
    }

    @Test
    void nobody_is_called_without_a_channel() {
        assertThat(on(new TimerExpired())).isEmpty();
        on(new ChannelAttached());
        on(new CircuitClosed());
        on(new ChannelLost());
        assertThat(after(Duration.ofMinutes(1))).isEmpty();
        assertThat(on(new ChannelAttached())).containsExactly(new OpenCircuit(false));
    }

    @Test
    void a_controlling_vm_that_never_hands_over_is_given_up() {
        question();
        now += WorkerStateMachine.HANDOVER_LIMIT.toNanos();
        assertThat(on(new TimerExpired())).contains(new StartShutdown("no-hand-over", true), new FinishOutput());
        assertThat(on(new CircuitClosed())).containsExactly(new Terminate(true, "no-hand-over"));
    }

    @Test
    void beats_are_a_sixth_of_the_lease_apart_and_at_most_what_the_relay_allows() {
        ready();
        assertThat(stateMachine.leaseExpiryNs() - now).isLessThanOrEqualTo(LEASE.toNanos());
        now = stateMachine.wakeNs();
        assertThat(on(new TimerExpired())).containsExactly(say(new VmMessage.Heartbeat()));
        assertThat(stateMachine.wakeNs() - now).isEqualTo(WorkerLease.MAX_HEARTBEAT_INTERVAL.toNanos());
        WorkerStateMachine brief = WorkerStateMachine.create(Duration.ZERO, 0);
        brief.on(new ChannelAttached(), 0);
        brief.on(new CircuitOpened(WorkerStateEventSamples.FRESH), 0);
        brief.on(new MessageReceived(new VerifierMessage.Question(NONCE)), 0);
        brief.on(vouched(), 0);
        brief.on(new MessageReceived(handOver), 0);
        brief.on(new HandoverAccepted(Duration.ofMinutes(1), RENEWAL, WorkerStateEventSamples.PLACE), 0);
        assertThat(brief.wakeNs()).isEqualTo(Duration.ofSeconds(10).toNanos());
    }

    @Test
    void a_lease_begins_anew_with_what_is_heard_and_ends_the_vm_when_it_is_over() {
        ready();
        now += LEASE.toNanos() / 2;
        on(new MessageReceived(new VerifierMessage.LeaseRenewal()));
        assertThat(stateMachine.leaseExpiryNs()).isEqualTo(now + LEASE.toNanos());
        now += LEASE.toNanos() - 1;
        assertThat(on(new TimerExpired())).noneMatch(StartShutdown.class::isInstance);
        now++;
        assertThat(on(new TimerExpired()))
                .startsWith(new StartShutdown("lease", true), new UndoStep(SetupStep.SLURMD, true));
        assertThat(leaves()).isEqualTo(backFrom(SetupStep.SLURMD));
        assertThat(actions).endsWith(new Terminate(true, "lease"));
    }

    @Test
    void a_circuit_that_breaks_later_is_opened_with_the_certificate_and_what_was_not_said_is_said_then() {
        upTo(SetupStep.SLURMD);
        on(new CircuitClosed());
        assertThat(on(new StepApplied(SetupStep.SLURMD))).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new OpenCircuit(true));
        assertThat(on(new CircuitOpened(WorkerStateEventSamples.FRESH)))
                .containsExactly(
                        say(RESUME),
                        say(new VmMessage.PhaseCompleted(BootPhase.REGISTRATION, Duration.ZERO)),
                        say(new VmMessage.Ready()),
                        say(new VmMessage.Heartbeat()));
        on(new CircuitClosed());
        after(Duration.ofSeconds(2));
        assertThat(on(new CircuitOpened(WorkerStateEventSamples.FRESH)))
                .as("ready may have been on its way when the circuit broke")
                .containsExactly(say(RESUME), say(new VmMessage.Ready()), say(new VmMessage.Heartbeat()));
    }

    @Test
    void the_part_waits_for_a_circuit_and_not_for_ever() {
        ready();
        on(new CircuitClosed());
        on(new StopRequested());
        for (SetupStep step : backFrom(SetupStep.SLURMD).subList(0, 7)) {
            on(new StepUndone(step));
        }
        assertThat(actions).endsWith(new SignStatement());
        assertThat(on(new StatementSigned(Optional.of(statement)))).isEmpty();
        assertThat(after(Duration.ofSeconds(1))).containsExactly(new OpenCircuit(true));
        assertThat(on(new CircuitOpened(WorkerStateEventSamples.FRESH)))
                .containsExactly(
                        say(RESUME),
                        say(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, Duration.ZERO)),
                        say(new VmMessage.FinalStatement(statement)),
                        new FinishOutput());
        now = stateMachine.wakeNs();
        assertThat(on(new TimerExpired())).containsExactly(new UndoStep(SetupStep.TUNNEL, false));
    }

    @Test
    void a_part_that_cannot_be_delivered_keeps_no_vm() {
        ready();
        on(new ChannelLost());
        on(new CircuitClosed());
        on(new StopRequested());
        assertThat(leaves()).isEqualTo(backFrom(SetupStep.SLURMD).subList(0, 7));
        now = stateMachine.wakeNs();
        assertThat(on(new TimerExpired())).containsExactly(new UndoStep(SetupStep.TUNNEL, false));
        assertThat(leaves()).isEqualTo(backFrom(SetupStep.TUNNEL));
        assertThat(actions).endsWith(new Terminate(true, "stopped"));
    }

    @Test
    void who_is_stopped_before_the_host_was_asked_leaves_the_vm_to_the_next_agent() {
        on(new ChannelAttached());
        assertThat(on(new StopRequested()))
                .containsExactly(new StartShutdown("stopped", false), new Terminate(false, "stopped"));
    }

    @Test
    void who_is_stopped_after_it_was_asked_takes_the_vm_with_it() {
        question();
        on(new CircuitClosed());
        assertThat(on(new StopRequested())).endsWith(new Terminate(true, "stopped"));
    }
}
