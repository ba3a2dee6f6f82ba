package org.cloister.vm.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    private final Job one = Samples.job("1", JobState.PENDING, "Priority", LocalSlurm.UNPLACED);
    private final Job two = Samples.job("2", JobState.PENDING, "Priority", LocalSlurm.UNPLACED);
    private final Job first = Samples.component(9, 0);
    private final Job second = Samples.component(9, 1);

    private static Admission.Candidate candidate(Job job) {
        return new Admission.Candidate(job, Samples.request(1, 1), true);
    }

    private static List<String> ids(List<Admission.Candidate> admitted) {
        return admitted.stream().map(each -> each.job().id().text()).toList();
    }

    @Test
    void the_first_of_the_queue_get_what_the_quota_leaves() {
        Admission.Outcome outcome = Admission.of(List.of(candidate(one), candidate(two)), Map.of(), Map.of(), 1);
        assertThat(ids(outcome.admitted())).containsExactly("1");
        assertThat(outcome.quota()).containsExactly(two);
    }

    @Test
    void a_set_that_is_too_large_for_what_is_left_is_not_overtaken() {
        List<Admission.Candidate> queue = List.of(candidate(first), candidate(second), candidate(one));
        assertThat(Admission.of(queue, Map.of(9L, 2), Map.of(), 1).admitted()).isEmpty();
        assertThat(ids(Admission.of(queue, Map.of(9L, 2), Map.of(), 2).admitted()))
                .containsExactly("9+0", "9+1");
    }

    @Test
    void a_set_of_which_a_component_waits_for_something_else_gets_nothing() {
        assertThat(ids(Admission.of(List.of(candidate(first), candidate(one)), Map.of(9L, 2), Map.of(), 5)
                        .admitted()))
                .containsExactly("1");
    }

    @Test
    void an_array_has_no_more_tickets_than_tasks_that_may_run() {
        List<Admission.Candidate> tasks = List.of(
                candidate(Samples.task(4, 0, 2)), candidate(Samples.task(4, 1, 2)), candidate(Samples.task(4, 2, 2)));
        assertThat(ids(Admission.of(tasks, Map.of(), Map.of(), 5).admitted())).containsExactly("4_0", "4_1");
        assertThat(ids(Admission.of(tasks, Map.of(), Map.of(4L, 1), 5).admitted()))
                .containsExactly("4_0");
    }

    @Test
    void a_job_whose_last_attempt_failed_just_now_is_overtaken() {
        Admission.Candidate failed = new Admission.Candidate(one, Samples.request(1, 1), false);
        assertThat(ids(Admission.of(List.of(failed, candidate(two)), Map.of(), Map.of(), 1)
                        .admitted()))
                .containsExactly("2");
    }
}
