package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.junit.jupiter.api.Test;

class RequestPlannerTest {
    private final RequestPlanner requests = new RequestPlanner(new QueueSettings(
            10,
            List.of(new HostShape(4, 4, 1000, 500), new HostShape(1, 8, 8000, 0)),
            List.of("fast", "large"),
            3,
            Duration.ofSeconds(30),
            Duration.ofHours(2)));

    private static JobRequirements demand(
            int least, int most, int tasks, int cpus, long memory, boolean ofCpu, boolean whole) {
        return new JobRequirements(
                least,
                most,
                tasks,
                cpus,
                OptionalInt.empty(),
                memory,
                ofCpu,
                0,
                whole,
                Optional.of(Duration.ofSeconds(61)));
    }

    private ResourceRequest requested(JobRequirements requirements) {
        return requests.plan(requirements, List.of()).request().orElseThrow();
    }

    @Test
    void tasks_are_spread_evenly_and_limits_rounded_up() {
        assertThat(requested(demand(2, 2, 5, 1, 100, false, false)))
                .isEqualTo(
                        new ResourceRequest(2, OptionalInt.of(5), 1, OptionalInt.of(3), 100, 0, false, 2, List.of()));
    }

    @Test
    void tasks_without_a_count_of_nodes_get_as_few_as_hold_them() {
        assertThat(requested(demand(1, 1, 8, 1, 100, true, false)).nodes()).isEqualTo(1);
        assertThat(requested(demand(1, 1, 12, 1, 100, true, false)).nodes()).isEqualTo(3);
        assertThat(requested(demand(1, 3, 12, 1, 100, true, false)).nodes()).isEqualTo(3);
        assertThat(requests.plan(demand(1, 2, 12, 1, 100, true, false), List.of())
                        .request())
                .isEmpty();
    }

    @Test
    void memory_of_a_cpu_is_counted_for_a_nodes_tasks() {
        assertThat(requested(demand(2, 2, 4, 2, 100, true, false)).memoryMib()).isEqualTo(400);
    }

    @Test
    void all_memory_or_all_cpus_of_a_node_are_asked_for_as_a_whole_node() {
        assertThat(requested(demand(1, 1, 1, 1, 0, false, false)))
                .isEqualTo(new ResourceRequest(1, OptionalInt.of(1), 1, OptionalInt.empty(), 0, 0, true, 2, List.of()));
        assertThat(requested(demand(1, 1, 1, 1, 100, true, true)).memoryMib()).isZero();
        assertThat(requested(demand(1, 1, 1, 1, 100, false, true)).memoryMib()).isEqualTo(100);
    }

    @Test
    void what_no_host_has_is_refused_with_both_values() {
        RequestPlanner.Result answer = requests.plan(demand(2, 2, 2, 8, 100, false, false), List.of());
        assertThat(answer.request()).isEmpty();
        assertThat(answer.refusal()).contains("5 hosts", "8 CPUs", "have 2 nodes, 2 tasks of 8 CPUs");
    }

    @Test
    void more_workers_than_a_project_can_have_are_refused_before_a_ticket() {
        RequestPlanner large = new RequestPlanner(new QueueSettings(
                10,
                List.of(new HostShape(4000, 4, 1000, 500)),
                List.of(),
                3,
                Duration.ofSeconds(30),
                Duration.ofHours(2)));
        int most = RequestPlanner.MAX_WORKERS;
        assertThat(large.plan(demand(most, most, most, 1, 100, false, false), List.of())
                        .request())
                .isPresent();
        RequestPlanner.Result answer =
                large.plan(demand(most + 1, most + 1, most + 1, 1, 100, false, false), List.of());
        assertThat(answer.request()).isEmpty();
        assertThat(answer.refusal()).contains("at most 575", "have 576");
    }

    @Test
    void a_name_that_the_approval_does_not_have_any_more_is_refused() {
        assertThat(requests.plan(demand(1, 1, 1, 1, 1, false, false), List.of(0, 1))
                        .request())
                .isPresent();
        assertThat(requests.plan(demand(1, 1, 1, 1, 1, false, false), List.of(0, 2))
                        .refusal())
                .contains("number 2");
    }

    @Test
    void a_job_without_a_limit_has_the_longest_and_one_of_years_is_refused() {
        JobRequirements none =
                new JobRequirements(1, 1, 1, 1, OptionalInt.empty(), 1, false, 0, false, Optional.empty());
        assertThat(requested(none).minutes()).isEqualTo(120);
        JobRequirements years = new JobRequirements(
                1, 1, 1, 1, OptionalInt.empty(), 1, false, 0, false, Optional.of(Duration.ofDays(800)));
        assertThat(requests.plan(years, List.of()).refusal()).startsWith("time limit: want at most");
    }

    @Test
    void absurd_numbers_are_refused_and_nothing_else() {
        JobRequirements absurd = new JobRequirements(
                1,
                1,
                Integer.MAX_VALUE,
                Integer.MAX_VALUE,
                OptionalInt.of(Integer.MAX_VALUE),
                Long.MAX_VALUE,
                true,
                Long.MAX_VALUE,
                true,
                Optional.of(Duration.ofMinutes(1)));
        assertThat(requests.plan(absurd, List.of()).request()).isEmpty();
    }
}
