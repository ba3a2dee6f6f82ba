package org.cloister.vm.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.vm.queue.Samples.FEATURE;
import static org.cloister.vm.queue.Samples.OTHER;
import static org.cloister.vm.queue.Samples.TICKET;
import static org.cloister.vm.queue.Samples.entry;
import static org.cloister.vm.queue.Samples.job;
import static org.cloister.vm.queue.Samples.nodes;
import static org.cloister.vm.queue.Samples.ready;
import static org.cloister.vm.queue.Samples.request;
import static org.cloister.vm.queue.Samples.sight;
import static org.cloister.vm.queue.Samples.waiting;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CourseTest {
    private static final Verdict WITHDRAWN = new Verdict.GiveUp(false, Entry.Stage.WITHDRAWN, Optional.empty());
    private static final Trouble TROUBLE = new Trouble(Phase.BOOT, "boot", "it did not start", "", true);

    private final Course course = new Course(Duration.ofSeconds(30));
    private final Map<String, Node> idle = nodes(TICKET, Node.State.IDLE, Node.State.IDLE);

    private Verdict of(Course.Sight sight) {
        return course.of(List.of(sight), true).get(0);
    }

    @Test
    void a_job_is_placed_when_every_node_is_idle_and_not_before() {
        assertThat(of(sight(entry(), waiting("Priority"), ready(TICKET), idle, 11_000)))
                .isEqualTo(new Verdict.Ready());
        assertThat(of(sight(
                        entry(),
                        waiting("Priority"),
                        ready(TICKET),
                        nodes(TICKET, Node.State.IDLE, Node.State.OUT),
                        11_000)))
                .isEqualTo(Course.WAIT);
        Heard one = new Heard();
        one.apply(new WorkerEvent.Allocated(TICKET, 2), 1);
        one.apply(new WorkerEvent.NodeReady(TICKET, 0, "vm-a-0"), 2);
        assertThat(of(sight(entry(), waiting("Priority"), one, idle, 11_000))).isEqualTo(Course.WAIT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dependency", "JobHeldUser", "BeginTime", "QOSMaxJobsPerUserLimit", "JobArrayTaskLimit"})
    void a_ticket_is_withdrawn_when_its_job_may_not_start_anyway(String reason) {
        assertThat(of(sight(entry(), waiting(reason), ready(TICKET), idle, 11_000)))
                .isEqualTo(WITHDRAWN);
    }

    @Test
    void a_placed_job_is_taken_off_its_ticket_before_that_is_withdrawn() {
        assertThat(of(sight(entry(), job("7", JobState.PENDING, "JobHeldUser", FEATURE), ready(TICKET), idle, 11_000)))
                .isEqualTo(new Verdict.GiveUp(true, Entry.Stage.WITHDRAWN, Optional.empty()));
    }

    /** slurmctld came back with a state from before its last ticket was taken off. */
    @Test
    void a_job_that_is_on_an_older_ticket_again_gets_another() {
        Job older = job("7", JobState.PENDING, "Resources", LocalSlurm.feature(OTHER));
        assertThat(of(sight(entry(), older, ready(TICKET), idle, 11_000))).isEqualTo(WITHDRAWN);
    }

    @Test
    void a_raised_time_limit_of_a_waiting_job_means_another_ticket_and_a_lowered_one_does_not() {
        assertThat(of(asking(11))).isEqualTo(WITHDRAWN);
        assertThat(of(asking(9))).isEqualTo(new Verdict.Ready());
    }

    private Course.Sight asking(int minutes) {
        return new Course.Sight(
                entry(),
                ready(TICKET),
                Optional.of(waiting("Resources")),
                0,
                Optional.of(request(2, minutes)),
                idle,
                OptionalLong.empty(),
                11_000);
    }

    @Test
    void nodes_that_do_not_register_are_a_failure() {
        Map<String, Node> none = Map.of();
        assertThat(of(sight(entry(), waiting("None"), ready(TICKET), none, 40_000)))
                .isEqualTo(Course.WAIT);
        assertThat(of(sight(entry(), waiting("None"), ready(TICKET), none, 40_001)))
                .isInstanceOfSatisfying(Verdict.GiveUp.class, up -> {
                    assertThat(up.failure().orElseThrow().text()).contains("want 2 nodes idle", "have 0");
                    assertThat(up.unplace()).isFalse();
                });
    }

    @Test
    void a_placed_job_that_does_not_start_in_time_or_does_not_fit_has_failed() {
        Job placed = job("7", JobState.PENDING, "Resources", FEATURE);
        Course.Sight late = new Course.Sight(
                entry(), ready(TICKET), Optional.of(placed), 0, Optional.empty(), idle, OptionalLong.of(1), 30_002);
        assertThat(of(late)).isInstanceOfSatisfying(Verdict.GiveUp.class, up -> {
            assertThat(up.unplace()).isTrue();
            assertThat(up.failure().orElseThrow().code()).isEqualTo("start");
        });
        Job misfit = job("7", JobState.PENDING, "BadConstraints", FEATURE);
        assertThat(of(sight(entry(), misfit, ready(TICKET), idle, 11_000)))
                .isInstanceOfSatisfying(Verdict.GiveUp.class, up -> {
                    assertThat(up.failure().orElseThrow().code()).isEqualTo("constraints");
                    assertThat(up.failure().orElseThrow().hint()).contains("administrator");
                });
    }

    @Test
    void nodes_with_too_little_memory_are_a_matter_of_the_projects_settings() {
        Map<String, Node> small = new HashMap<>(idle);
        small.put("vm-a-1", new Node("vm-a-1", LocalSlurm.feature(TICKET), Node.State.IDLE, 4, 99));
        Job misfit = job("7", JobState.PENDING, "BadConstraints", FEATURE);
        assertThat(of(sight(entry(), misfit, ready(TICKET), small, 11_000)))
                .isInstanceOfSatisfying(Verdict.GiveUp.class, up -> {
                    Trouble trouble = up.failure().orElseThrow();
                    assertThat(trouble.text()).contains("100 MiB each; one has 99 MiB");
                    assertThat(trouble.hint()).contains("[memory]", "settings");
                });
    }

    @Test
    void a_node_that_goes_before_the_start_is_a_failure_with_the_workers_words() {
        Heard heard = ready(TICKET);
        heard.apply(new WorkerEvent.NodeGone(TICKET, 1, TROUBLE), 10_500);
        assertThat(of(sight(entry(), waiting("None"), heard, idle, 11_000)))
                .isEqualTo(new Verdict.GiveUp(false, Entry.Stage.WITHDRAWN, Optional.of(TROUBLE)));
    }

    @Test
    void a_ticket_of_which_only_the_end_is_heard_after_a_restart_has_not_failed() {
        Heard heard = new Heard();
        heard.apply(new WorkerEvent.Ended(TICKET, TROUBLE), 10_500);
        assertThat(of(sight(entry(), waiting("None"), heard, idle, 11_000))).isEqualTo(WITHDRAWN);
    }

    @Test
    void a_requeued_job_needs_another_ticket() {
        Job requeued = new Job(
                entry().job(),
                0,
                0,
                0,
                1,
                1000,
                JobState.PENDING,
                "BeginTime",
                10,
                FEATURE,
                Optional.of(FakeSlurm.ADMIN),
                FakeSlurm.demand(2),
                List.of());
        assertThat(of(sight(entry().begun(), requeued, ready(TICKET), idle, 11_000)))
                .isEqualTo(new Verdict.GiveUp(true, Entry.Stage.RELEASED, Optional.empty()));
    }

    @Test
    void a_running_job_loses_the_nodes_whose_vms_have_gone_and_an_ended_one_releases_its_ticket() {
        Heard heard = ready(TICKET);
        heard.apply(new WorkerEvent.NodeGone(TICKET, 1, TROUBLE), 10_500);
        assertThat(of(sight(entry(), job("7", JobState.RUNNING, "None", FEATURE), heard, idle, 11_000)))
                .isEqualTo(new Verdict.Runs(Set.of("vm-a-1"), false));
        assertThat(of(sight(entry(), job("7", JobState.ENDED, "None", FEATURE), ready(TICKET), idle, 11_000)))
                .isEqualTo(new Verdict.GiveUp(false, Entry.Stage.RELEASED, Optional.empty()));
    }

    @Test
    void a_job_is_lost_only_after_several_looks_and_not_before_the_workers_were_heard() {
        assertThat(of(missing(ready(TICKET), Course.LOST_LOOKS - 1))).isEqualTo(Course.WAIT);
        assertThat(of(missing(new Heard(), Course.LOST_LOOKS))).isEqualTo(Course.WAIT);
        assertThat(of(missing(ready(TICKET), Course.LOST_LOOKS))).isEqualTo(WITHDRAWN);
    }

    private Course.Sight missing(Heard heard, int looks) {
        return new Course.Sight(
                entry(), heard, Optional.empty(), looks, Optional.empty(), idle, OptionalLong.empty(), 11_000);
    }

    @Test
    void components_start_together_and_fail_together() {
        Job a = Samples.component(9, 0);
        Job b = Samples.component(9, 1);
        Map<String, Node> others = nodes(OTHER, Node.State.IDLE, Node.State.IDLE);
        Course.Sight first = sight(Samples.component(TICKET, a), a, ready(TICKET), idle, 11_000);
        Course.Sight second = sight(Samples.component(OTHER, b), b, ready(OTHER), others, 11_000);
        assertThat(course.of(List.of(first, second), true)).containsExactly(new Verdict.Ready(), new Verdict.Ready());
        assertThat(course.of(List.of(first), false)).containsExactly(WITHDRAWN);
        Course.Sight waits = sight(Samples.component(OTHER, b), b, new Heard(), others, 11_000);
        assertThat(course.of(List.of(first, waits), true)).containsExactly(Course.WAIT, Course.WAIT);
        Heard refused = new Heard();
        refused.apply(new WorkerEvent.Allocated(OTHER, 2), 1);
        refused.apply(new WorkerEvent.Refused(OTHER, TROUBLE), 2);
        Verdict failed = new Verdict.GiveUp(false, Entry.Stage.WITHDRAWN, Optional.of(TROUBLE));
        assertThat(course.of(List.of(first, sight(Samples.component(OTHER, b), b, refused, others, 11_000)), true))
                .containsExactly(failed, failed);
    }
}
