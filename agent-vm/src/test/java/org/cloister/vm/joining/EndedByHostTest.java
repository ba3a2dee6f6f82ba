package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmMessage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A worker's course when its host ends the VM. Time is the test's. */
class EndedByHostTest {
    private static final long NOW = 1_000_000_000L;
    private static final Duration TIME = Duration.ofSeconds(20);
    private static final Event END = new Event.EndedByHost(TIME);

    /** Steps up to this one, the last first. */
    private static List<Step> backFrom(Step last) {
        return EnumSet.range(Step.MEMORY, last).stream()
                .sorted(Comparator.reverseOrder())
                .toList();
    }

    /** Answers what it wants, until nothing is left. */
    private static List<Act> all(Course course, List<Act> first) {
        List<Act> acts = new ArrayList<>(first);
        for (int i = 0; i < acts.size(); i++) {
            if (acts.get(i) instanceof Act.Undo undo) {
                acts.addAll(course.on(new Event.Undid(undo.step()), NOW));
            } else if (acts.get(i) instanceof Act.Sign) {
                acts.addAll(course.on(new Event.Signed(Optional.of(Heard.STATEMENT)), NOW));
            } else if (acts.get(i) instanceof Act.HangUp) {
                acts.addAll(course.on(new Event.Closed(), NOW));
            }
        }
        return acts;
    }

    private static List<Act> undone(Step last, boolean failed) {
        return backFrom(last).stream()
                .map(step -> (Act) new Act.Undo(step, failed))
                .toList();
    }

    @Test
    void a_node_leaves_as_one_that_failed_and_says_nothing_of_its_job() {
        Course course = Heard.serving(NOW);
        List<Act> first = course.on(END, NOW);
        assertThat(first).containsExactly(new Act.Leave("host", true), new Act.Undo(Step.SLURMD, true));
        List<Act> acts = all(course, first);
        assertThat(acts).containsSubsequence(undone(Step.SLURMD, true)).endsWith(new Act.End(true, "host"));
        assertThat(acts.stream().filter(Act.Say.class::isInstance))
                .containsExactly(
                        new Act.Say(new VmMessage.Passed(BootPhase.TEARDOWN, Duration.ZERO)),
                        new Act.Say(new VmMessage.Part(Heard.STATEMENT)));
        assertThat(course.on(END, NOW)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void who_is_no_node_yet_waits_for_its_step_and_has_not_failed(Step step) {
        Course course = Heard.upTo(step, NOW);
        assertThat(course.on(END, NOW)).containsExactly(new Act.Leave("host", false));
        assertThat(all(course, course.on(new Event.Did(step), NOW)))
                .containsSubsequence(undone(step, false))
                .endsWith(new Act.End(true, "host"));
    }

    @Test
    void the_vm_goes_off_though_the_next_agent_could_go_on() {
        Course course = Course.assigned(Duration.ZERO, NOW);
        course.on(new Event.Attached(), NOW);
        assertThat(course.on(END, NOW)).containsExactly(new Act.Leave("host", false), new Act.End(true, "host"));
    }

    @Test
    void last_words_take_half_of_the_time_at_most() {
        Course course = unheard(END);
        assertThat(course.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(course.on(new Event.Woke(), course.wakeNs())).containsExactly(new Act.Undo(Step.TUNNEL, true));
    }

    @Test
    void last_words_that_had_begun_are_cut_short() {
        Course course = unheard(new Event.Stop());
        assertThat(course.wakeNs() - NOW).isEqualTo(Parting.FAREWELL.toNanos());
        course.on(END, NOW);
        assertThat(course.wakeNs() - NOW).isEqualTo(TIME.toNanos() / 2);
        assertThat(course.on(new Event.Woke(), course.wakeNs())).containsExactly(new Act.Undo(Step.TUNNEL, false));
    }

    /** It has its last words and nobody to say them to. */
    private static Course unheard(Event why) {
        Course course = Heard.serving(NOW);
        course.on(new Event.Detached(), NOW);
        course.on(new Event.Closed(), NOW);
        course.on(why, NOW);
        for (Step step : backFrom(Step.SLURMD)) {
            if (!step.isOutlived()) {
                course.on(new Event.Undid(step), NOW);
            }
        }
        course.on(new Event.Signed(Optional.of(Heard.STATEMENT)), NOW);
        return course;
    }
}
