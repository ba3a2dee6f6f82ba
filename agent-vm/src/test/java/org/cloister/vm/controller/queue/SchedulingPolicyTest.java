package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.vm.controller.queue.QueueSamples.FEATURE;
import static org.cloister.vm.controller.queue.QueueSamples.OTHER;
import static org.cloister.vm.controller.queue.QueueSamples.TICKET;
import static org.cloister.vm.controller.queue.QueueSamples.entry;
import static org.cloister.vm.controller.queue.QueueSamples.job;
import static org.cloister.vm.controller.queue.QueueSamples.nodes;
import static org.cloister.vm.controller.queue.QueueSamples.ready;
import static org.cloister.vm.controller.queue.QueueSamples.request;
import static org.cloister.vm.controller.queue.QueueSamples.sight;
import static org.cloister.vm.controller.queue.QueueSamples.waiting;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulingPolicyTest {
    private static final TicketDecision WITHDRAWN =
            new TicketDecision.GiveUp(false, JobTicket.Stage.WITHDRAWN, Optional.empty());
    private static final EndReason TROUBLE = new EndReason(WorkerPhase.BOOT, "boot", "it did not start", "", true);

    private final SchedulingPolicy policy = new SchedulingPolicy(Duration.ofSeconds(30));
    private final Map<String, LocalSlurmNode> idle =
            nodes(TICKET, LocalSlurmNode.State.IDLE, LocalSlurmNode.State.IDLE);

    private TicketDecision of(SchedulingPolicy.Observation sight) {
        return policy.decide(List.of(sight), true).get(0);
    }

    @Test
    void a_job_is_placed_when_every_node_is_idle_and_not_before() {
        assertThat(of(sight(entry(), waiting("Priority"), ready(TICKET), idle, 11_000)))
                .isEqualTo(new TicketDecision.Ready());
        assertThat(of(sight(
                        entry(),
                        waiting("Priority"),
                        ready(TICKET),
                        nodes(TICKET, LocalSlurmNode.State.IDLE, LocalSlurmNode.State.UNAVAILABLE),
                        11_000)))
                .isEqualTo(SchedulingPolicy.WAIT);
        WorkerReports one = new WorkerReports();
        one.apply(new WorkerEvent.Allocated(TICKET, 2), 1);
        one.apply(new WorkerEvent.NodeReady(TICKET, 0, "vm-a-0"), 2);
        assertThat(of(sight(entry(), waiting("Priority"), one, idle, 11_000))).isEqualTo(SchedulingPolicy.WAIT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Dependency", "JobHeldUser", "BeginTime", "QOSMaxJobsPerUserLimit", "JobArrayTaskLimit"})
    void a_ticket_is_withdrawn_when_its_job_may_not_start_anyway(String reason) {
        assertThat(of(sight(entry(), waiting(reason), ready(TICKET), idle, 11_000)))
                .isEqualTo(WITHDRAWN);
    }

    @Test
    void a_placed_job_is_taken_off_its_ticket_before_that_is_withdrawn() {
        assertThat(of(sight(
                        entry(),
                        job("7", LocalSlurmJobState.PENDING, "JobHeldUser", FEATURE),
                        ready(TICKET),
                        idle,
                        11_000)))
                .isEqualTo(new TicketDecision.GiveUp(true, JobTicket.Stage.WITHDRAWN, Optional.empty()));
    }

    @Test
    void a_job_in_a_state_that_is_not_known_keeps_its_ticket_and_is_not_placed() {
        LocalSlurmJob unknown = job("7", LocalSlurmJobState.UNKNOWN, "", LocalSlurm.UNPLACED);
        assertThat(of(sight(entry(), unknown, ready(TICKET), idle, 11_000))).isEqualTo(SchedulingPolicy.WAIT);
    }

    /** slurmctld came back with a state from before its last ticket was taken off. */
    @Test
    void a_job_that_is_on_an_older_ticket_again_gets_another() {
        LocalSlurmJob older = job("7", LocalSlurmJobState.PENDING, "Resources", LocalSlurm.feature(OTHER));
        assertThat(of(sight(entry(), older, ready(TICKET), idle, 11_000))).isEqualTo(WITHDRAWN);
    }

    @Test
    void a_raised_time_limit_of_a_waiting_job_means_another_ticket_and_a_lowered_one_does_not() {
        assertThat(of(asking(11))).isEqualTo(WITHDRAWN);
        assertThat(of(asking(9))).isEqualTo(new TicketDecision.Ready());
    }

    private SchedulingPolicy.Observation asking(int minutes) {
        return new SchedulingPolicy.Observation(
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
        Map<String, LocalSlurmNode> none = Map.of();
        assertThat(of(sight(entry(), waiting("None"), ready(TICKET), none, 40_000)))
                .isEqualTo(SchedulingPolicy.WAIT);
        assertThat(of(sight(entry(), waiting("None"), ready(TICKET), none, 40_001)))
                .isInstanceOfSatisfying(TicketDecision.GiveUp.class, up -> {
                    assertThat(up.failure().orElseThrow().text()).contains("only 0 of 2 nodes are idle");
                    assertThat(up.unplace()).isFalse();
                });
    }

    @Test
    void a_placed_job_that_does_not_start_in_time_or_does_not_fit_has_failed() {
        LocalSlurmJob placed = job("7", LocalSlurmJobState.PENDING, "Resources", FEATURE);
        SchedulingPolicy.Observation late = new SchedulingPolicy.Observation(
                entry(), ready(TICKET), Optional.of(placed), 0, Optional.empty(), idle, OptionalLong.of(1), 30_002);
        assertThat(of(late)).isInstanceOfSatisfying(TicketDecision.GiveUp.class, up -> {
            assertThat(up.unplace()).isTrue();
            assertThat(up.failure().orElseThrow().code()).isEqualTo("start");
        });
        LocalSlurmJob misfit = job("7", LocalSlurmJobState.PENDING, "BadConstraints", FEATURE);
        assertThat(of(sight(entry(), misfit, ready(TICKET), idle, 11_000)))
                .isInstanceOfSatisfying(TicketDecision.GiveUp.class, up -> {
                    assertThat(up.failure().orElseThrow().code()).isEqualTo("constraints");
                    assertThat(up.failure().orElseThrow().hint()).contains("administrator");
                });
    }

    @Test
    void nodes_with_too_little_memory_are_a_matter_of_the_projects_settings() {
        Map<String, LocalSlurmNode> small = new HashMap<>(idle);
        small.put("vm-a-1", new LocalSlurmNode("vm-a-1", LocalSlurm.feature(TICKET), LocalSlurmNode.State.IDLE, 4, 99));
        LocalSlurmJob misfit = job("7", LocalSlurmJobState.PENDING, "BadConstraints", FEATURE);
        assertThat(of(sight(entry(), misfit, ready(TICKET), small, 11_000)))
                .isInstanceOfSatisfying(TicketDecision.GiveUp.class, up -> {
                    EndReason trouble = up.failure().orElseThrow();
                    assertThat(trouble.text()).contains("100 MiB each; one has 99 MiB");
                    assertThat(trouble.hint()).contains("[memory]", "settings");
                });
    }

    @Test
    void a_node_that_goes_before_the_start_is_a_failure_with_the_workers_words() {
        WorkerReports reports = ready(TICKET);
        reports.apply(new WorkerEvent.NodeGone(TICKET, 1, TROUBLE), 10_500);
        assertThat(of(sight(entry(), waiting("None"), reports, idle, 11_000)))
                .isEqualTo(new TicketDecision.GiveUp(false, JobTicket.Stage.WITHDRAWN, Optional.of(TROUBLE)));
    }

    @Test
    void a_ticket_of_which_only_the_end_is_heard_after_a_restart_has_not_failed() {
        WorkerReports reports = new WorkerReports();
        reports.apply(new WorkerEvent.Ended(TICKET, TROUBLE), 10_500);
        assertThat(of(sight(entry(), waiting("None"), reports, idle, 11_000))).isEqualTo(WITHDRAWN);
    }

    @Test
    void a_requeued_job_needs_another_ticket() {
        LocalSlurmJob requeued = new LocalSlurmJob(
                entry().job(),
                0,
                0,
                0,
                1,
                1000,
                LocalSlurmJobState.PENDING,
                "BeginTime",
                10,
                FEATURE,
                Optional.of(SimulatedSlurm.ADMIN),
                SimulatedSlurm.demand(2),
                List.of());
        assertThat(of(sight(entry().markStarted(), requeued, ready(TICKET), idle, 11_000)))
                .isEqualTo(new TicketDecision.GiveUp(true, JobTicket.Stage.RELEASED, Optional.empty()));
    }

    @Test
    void a_running_job_loses_the_nodes_whose_vms_have_gone_and_an_ended_one_releases_its_ticket() {
        WorkerReports reports = ready(TICKET);
        reports.apply(new WorkerEvent.NodeGone(TICKET, 1, TROUBLE), 10_500);
        assertThat(of(sight(entry(), job("7", LocalSlurmJobState.RUNNING, "None", FEATURE), reports, idle, 11_000)))
                .isEqualTo(new TicketDecision.Runs(Set.of("vm-a-1"), false));
        assertThat(of(sight(entry(), job("7", LocalSlurmJobState.ENDED, "None", FEATURE), ready(TICKET), idle, 11_000)))
                .isEqualTo(new TicketDecision.GiveUp(false, JobTicket.Stage.RELEASED, Optional.empty()));
    }

    /** After a restart, which names no node of a ticket that ended meanwhile. */
    @Test
    void a_job_that_runs_or_ends_on_a_ticket_that_has_ended_loses_all_its_nodes() {
        WorkerReports reports = new WorkerReports();
        reports.apply(new WorkerEvent.Ended(TICKET, TROUBLE), 10_500);
        Set<String> all = Set.of("vm-a-0", "vm-a-1");
        LocalSlurmJob running = job("7", LocalSlurmJobState.RUNNING, "None", FEATURE);
        LocalSlurmJob completing = job("7", LocalSlurmJobState.COMPLETING, "None", FEATURE);
        assertThat(of(sight(entry(), running, reports, idle, 11_000))).isEqualTo(new TicketDecision.Runs(all, false));
        assertThat(of(sight(entry(), completing, reports, idle, 11_000))).isEqualTo(new TicketDecision.Runs(all, true));
    }

    @Test
    void a_job_is_lost_only_after_several_looks_and_not_before_the_workers_were_heard() {
        assertThat(of(missing(ready(TICKET), SchedulingPolicy.LOST_POLLS - 1))).isEqualTo(SchedulingPolicy.WAIT);
        assertThat(of(missing(new WorkerReports(), SchedulingPolicy.LOST_POLLS)))
                .isEqualTo(SchedulingPolicy.WAIT);
        assertThat(of(missing(ready(TICKET), SchedulingPolicy.LOST_POLLS))).isEqualTo(WITHDRAWN);
    }

    private SchedulingPolicy.Observation missing(WorkerReports reports, int checks) {
        return new SchedulingPolicy.Observation(
                entry(), reports, Optional.empty(), checks, Optional.empty(), idle, OptionalLong.empty(), 11_000);
    }

    @Test
    void components_start_together_and_fail_together() {
        LocalSlurmJob a = QueueSamples.component(9, 0);
        LocalSlurmJob b = QueueSamples.component(9, 1);
        Map<String, LocalSlurmNode> others = nodes(OTHER, LocalSlurmNode.State.IDLE, LocalSlurmNode.State.IDLE);
        SchedulingPolicy.Observation first = sight(QueueSamples.component(TICKET, a), a, ready(TICKET), idle, 11_000);
        SchedulingPolicy.Observation second = sight(QueueSamples.component(OTHER, b), b, ready(OTHER), others, 11_000);
        assertThat(policy.decide(List.of(first, second), true))
                .containsExactly(new TicketDecision.Ready(), new TicketDecision.Ready());
        assertThat(policy.decide(List.of(first), false)).containsExactly(WITHDRAWN);
        SchedulingPolicy.Observation waits =
                sight(QueueSamples.component(OTHER, b), b, new WorkerReports(), others, 11_000);
        assertThat(policy.decide(List.of(first, waits), true))
                .containsExactly(SchedulingPolicy.WAIT, SchedulingPolicy.WAIT);
        WorkerReports refused = new WorkerReports();
        refused.apply(new WorkerEvent.Allocated(OTHER, 2), 1);
        refused.apply(new WorkerEvent.Refused(OTHER, TROUBLE), 2);
        TicketDecision failed = new TicketDecision.GiveUp(false, JobTicket.Stage.WITHDRAWN, Optional.of(TROUBLE));
        assertThat(policy.decide(
                        List.of(first, sight(QueueSamples.component(OTHER, b), b, refused, others, 11_000)), true))
                .containsExactly(failed, failed);
    }
}
