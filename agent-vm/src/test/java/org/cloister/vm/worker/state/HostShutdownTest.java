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
    private static List<WorkerStateAction> all(WorkerStateMachine course, List<WorkerStateAction> first) {
        List<WorkerStateAction> acts = new ArrayList<>(first);
        for (int i = 0; i < acts.size(); i++) {
            if (acts.get(i) instanceof WorkerStateAction.UndoStep undo) {
                acts.addAll(course.on(new WorkerStateEvent.StepUndone(undo.step()), NOW));
            } else if (acts.get(i) instanceof WorkerStateAction.SignStatement) {
                acts.addAll(course.on(
                        new WorkerStateEvent.StatementSigned(Optional.of(WorkerStateEventSamples.STATEMENT)), NOW));
            } else if (acts.get(i) instanceof WorkerStateAction.FinishOutput) {
                acts.addAll(course.on(new WorkerStateEvent.CircuitClosed(), NOW));
            }
        }
        return acts;
    }

    private static List<WorkerStateAction> undone(SetupStep last, boolean failed) {
        return backFrom(last).stream()
                .map(step -> (WorkerStateAction) new WorkerStateAction.UndoStep(step, failed))
                .toList();
    }

    @Test
    void a_node_leaves_as_one_that_failed_and_says_nothing_of_its_job() {
        WorkerStateMachine course = WorkerStateEventSamples.serving(NOW);
        List<WorkerStateAction> first = course.on(END, NOW);
        assertThat(first)
                .containsExactly(
                        new WorkerStateAction.StartShutdown("host", true),
                        new WorkerStateAction.UndoStep(SetupStep.SLURMD, true));
        List<WorkerStateAction> acts = all(course, first);
        assertThat(acts)
                .containsSubsequence(undone(SetupStep.SLURMD, true))
                .endsWith(new WorkerStateAction.Terminate(true, "host"));
        assertThat(acts.stream().filter(WorkerStateAction.Send.class::isInstance))
                .containsExactly(
                        new WorkerStateAction.Send(new VmMessage.PhaseCompleted(BootPhase.TEARDOWN, Duration.ZERO)),
                        new WorkerStateAction.Send(new VmMessage.FinalStatement(WorkerStateEventSamples.STATEMENT)));
        assertThat(course.on(END, NOW)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(SetupStep.class)
    void who_is_no_node_yet_waits_for_its_step_and_has_not_failed(SetupStep step) {
        WorkerStateMachine course = WorkerStateEventSamples.upTo(step, NOW);
        assertThat(course.on(END, NOW)).containsExactly(new WorkerStateAction.StartShutdown("host", false));
        assertThat(all(course, course.on(new WorkerStateEvent.StepApplied(step), NOW)))
                .containsSubsequence(undone(step, false))
                .endsWith(new WorkerStateAction.Terminate(true, "host"));
    }

    @Test
    void the_vm_goes_off_though_the_next_agent_could_go_on() {
        WorkerStateMachine course = WorkerStateMachine.create(Duration.ZERO, NOW);
        course.on(new WorkerStateEvent.ChannelAttached(), NOW);
        assertThat(course.on(END, NOW))
                .containsExactly(
                        new WorkerStateAction.StartShutdown("host", false),
                        new WorkerStateAction.Terminate(true, "host"));
    }

    @Test
    void last_words_take_half_of_the_time_at_most() {
        WorkerStateMachine course = unheard(END);
        assertThat(course.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(course.on(new WorkerStateEvent.TimerExpired(), course.wakeNs()))
                .containsExactly(new WorkerStateAction.UndoStep(SetupStep.TUNNEL, true));
    }

    @Test
    void last_words_that_had_begun_are_cut_short() {
        WorkerStateMachine course = unheard(new WorkerStateEvent.StopRequested());
        assertThat(course.wakeNs() - NOW).isEqualTo(WorkerShutdown.REPORT_LIMIT.toNanos());
        course.on(END, NOW);
        assertThat(course.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(course.on(new WorkerStateEvent.TimerExpired(), course.wakeNs()))
                .containsExactly(new WorkerStateAction.UndoStep(SetupStep.TUNNEL, false));
    }

    /** It has its last words and nobody to say them to. */
    private static WorkerStateMachine unheard(WorkerStateEvent why) {
        WorkerStateMachine course = WorkerStateEventSamples.serving(NOW);
        course.on(new WorkerStateEvent.ChannelLost(), NOW);
        course.on(new WorkerStateEvent.CircuitClosed(), NOW);
        course.on(why, NOW);
        for (SetupStep step : backFrom(SetupStep.SLURMD)) {
            if (!step.isOutlived()) {
                course.on(new WorkerStateEvent.StepUndone(step), NOW);
            }
        }
        course.on(new WorkerStateEvent.StatementSigned(Optional.of(WorkerStateEventSamples.STATEMENT)), NOW);
        return course;
    }
}
