package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.junit.jupiter.api.Test;

class TicketSelectionTest {
    private final LocalSlurmJob one =
            QueueSamples.job("1", LocalSlurmJobState.PENDING, "Priority", LocalSlurm.UNPLACED);
    private final LocalSlurmJob two =
            QueueSamples.job("2", LocalSlurmJobState.PENDING, "Priority", LocalSlurm.UNPLACED);
    private final LocalSlurmJob first = QueueSamples.component(9, 0);
    private final LocalSlurmJob second = QueueSamples.component(9, 1);

    private static TicketSelection.Candidate candidate(LocalSlurmJob job) {
        return new TicketSelection.Candidate(job, QueueSamples.request(1, 1), true);
    }

    private static List<String> ids(List<TicketSelection.Candidate> admitted) {
        return admitted.stream().map(each -> each.job().id().text()).toList();
    }

    @Test
    void the_first_of_the_queue_get_what_the_quota_leaves() {
        TicketSelection.Outcome outcome =
                TicketSelection.select(List.of(candidate(one), candidate(two)), Map.of(), Map.of(), 1);
        assertThat(ids(outcome.selected())).containsExactly("1");
        assertThat(outcome.overQuota()).containsExactly(two);
    }

    @Test
    void a_set_that_is_too_large_for_what_is_left_is_not_overtaken() {
        List<TicketSelection.Candidate> queue = List.of(candidate(first), candidate(second), candidate(one));
        assertThat(TicketSelection.select(queue, Map.of(9L, 2), Map.of(), 1).selected())
                .isEmpty();
        assertThat(ids(TicketSelection.select(queue, Map.of(9L, 2), Map.of(), 2).selected()))
                .containsExactly("9+0", "9+1");
    }

    @Test
    void a_set_of_which_a_component_waits_for_something_else_gets_nothing() {
        assertThat(ids(TicketSelection.select(List.of(candidate(first), candidate(one)), Map.of(9L, 2), Map.of(), 5)
                        .selected()))
                .containsExactly("1");
    }

    @Test
    void an_array_has_no_more_tickets_than_tasks_that_may_run() {
        List<TicketSelection.Candidate> tasks = List.of(
                candidate(QueueSamples.task(4, 0, 2)),
                candidate(QueueSamples.task(4, 1, 2)),
                candidate(QueueSamples.task(4, 2, 2)));
        assertThat(ids(TicketSelection.select(tasks, Map.of(), Map.of(), 5).selected()))
                .containsExactly("4_0", "4_1");
        assertThat(ids(TicketSelection.select(tasks, Map.of(), Map.of(4L, 1), 5).selected()))
                .containsExactly("4_0");
    }

    @Test
    void a_job_whose_last_attempt_failed_just_now_is_overtaken() {
        TicketSelection.Candidate failed = new TicketSelection.Candidate(one, QueueSamples.request(1, 1), false);
        assertThat(ids(TicketSelection.select(List.of(failed, candidate(two)), Map.of(), Map.of(), 1)
                        .selected()))
                .containsExactly("2");
    }
}
