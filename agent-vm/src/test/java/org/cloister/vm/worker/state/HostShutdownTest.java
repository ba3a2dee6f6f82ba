package org.cloister.vm.worker.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker's course when its host ends the VM. Time is the test's. */
class HostShutdownTest {
    private static final long NOW = 1_000_000_000L;
    private static final Duration TIME = Duration.ofSeconds(20);
    private static final WorkerStateEvent END = new WorkerStateEvent.HostShutdown(TIME);

    /** Steps up to this one, the last first. */
    private static List<SetupStep> backFrom(SetupStep last) {
        return EnumSet.range(SetupStep.MEMORY, last).stream()
                .sorted(Comparator.reverseOrder())
                .toList();
    }

    /** Answers what it wants, until nothing is left. */
    private static List<WorkerStateAction> all(WorkerStateMachine stateMachine, List<WorkerStateAction> first) {
        List<WorkerStateAction> actions = new ArrayList<>(first);
        for (int i = 0; i < actions.size(); i++) {
            if (actions.get(i) instanceof WorkerStateAction.UndoStep undo) {
                actions.addAll(stateMachine.on(new WorkerStateEvent.StepUndone(undo.step()), NOW));
            } else if (actions.get(i) instanceof WorkerStateAction.SignStatement) {
                actions.addAll(stateMachine.on(
                        new WorkerStateEvent.StatementSigned(Optional.of(WorkerStateEventSamples.STATEMENT)), NOW));
            } else if (actions.get(i) instanceof WorkerStateAction.FinishOutput) {
                actions.addAll(stateMachine.on(new WorkerStateEvent.CircuitClosed(), NOW));
            }
        }
        return actions;
    }

    private static List<WorkerStateAction> undone(SetupStep last, boolean failed) {
        return backFrom(last).stream()
                .map(step -> (WorkerStateAction) new WorkerStateAction.UndoStep(step, failed))
                .toList();
    }

    @Test
    void a_node_leaves_as_one_that_failed_and_says_nothing_of_its_job() {
        WorkerStateMachine stateMachine = WorkerStateEventSamples.serving(NOW);
        List<WorkerStateAction> first = stateMachine.on(END, NOW);
        assertThat(first)
                .containsExactly(
                        new WorkerStateAction.StartShutdown("host", true),
                        new WorkerStateAction.UndoStep(SetupStep.SLURMD, true));
        List<WorkerStateAction> actions = all(stateMachine, first);
        assertThat(actions)
                .containsSubsequence(undone(SetupStep.SLURMD, true))
                .endsWith(new WorkerStateAction.Terminate(true, "host"));
        assertThat(actions.stream().filter(WorkerStateAction.Send.class::isInstance))
                .containsExactly(
                        new WorkerStateAction.Send(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, Duration.ZERO)),
                        new WorkerStateAction.Send(new VmMessage.FinalStatement(WorkerStateEventSamples.STATEMENT)));
        assertThat(stateMachine.on(END, NOW)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(SetupStep.class)
    void who_is_no_node_yet_waits_for_its_step_and_has_not_failed(SetupStep step) {
        WorkerStateMachine stateMachine = WorkerStateEventSamples.upTo(step, NOW);
        assertThat(stateMachine.on(END, NOW)).containsExactly(new WorkerStateAction.StartShutdown("host", false));
        assertThat(all(stateMachine, stateMachine.on(new WorkerStateEvent.StepApplied(step), NOW)))
                .containsSubsequence(undone(step, false))
                .endsWith(new WorkerStateAction.Terminate(true, "host"));
    }

    @Test
    void the_vm_goes_off_though_the_next_agent_could_go_on() {
        WorkerStateMachine stateMachine = WorkerStateMachine.create(Duration.ZERO, NOW);
        stateMachine.on(new WorkerStateEvent.ChannelAttached(), NOW);
        assertThat(stateMachine.on(END, NOW))
                .containsExactly(
                        new WorkerStateAction.StartShutdown("host", false),
                        new WorkerStateAction.Terminate(true, "host"));
    }

    @Test
    void last_words_take_half_of_the_time_at_most() {
        WorkerStateMachine stateMachine = unheard(END);
        assertThat(stateMachine.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(stateMachine.on(new WorkerStateEvent.TimerExpired(), stateMachine.wakeNs()))
                .containsExactly(new WorkerStateAction.UndoStep(SetupStep.TUNNEL, true));
    }

    @Test
    void last_words_that_had_begun_are_cut_short() {
        WorkerStateMachine stateMachine = unheard(new WorkerStateEvent.StopRequested());
        assertThat(stateMachine.wakeNs() - NOW).isEqualTo(WorkerShutdown.REPORT_LIMIT.toNanos());
        stateMachine.on(END, NOW);
        assertThat(stateMachine.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(stateMachine.on(new WorkerStateEvent.TimerExpired(), stateMachine.wakeNs()))
                .containsExactly(new WorkerStateAction.UndoStep(SetupStep.TUNNEL, false));
    }

    /** It has its last words and nobody to say them to. */
    private static WorkerStateMachine unheard(WorkerStateEvent why) {
        WorkerStateMachine stateMachine = WorkerStateEventSamples.serving(NOW);
        stateMachine.on(new WorkerStateEvent.ChannelLost(), NOW);
        stateMachine.on(new WorkerStateEvent.CircuitClosed(), NOW);
        stateMachine.on(why, NOW);
        for (SetupStep step : backFrom(SetupStep.SLURMD)) {
            if (!step.isOutlived()) {
                stateMachine.on(new WorkerStateEvent.StepUndone(step), NOW);
            }
        }
        stateMachine.on(new WorkerStateEvent.StatementSigned(Optional.of(WorkerStateEventSamples.STATEMENT)), NOW);
        return stateMachine;
    }
}
