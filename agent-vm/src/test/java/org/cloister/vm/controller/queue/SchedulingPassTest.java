package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.status.JobStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what users see of a pass, without faults. */
class SchedulingPassTest {
    private static final int STEP_LIMIT = 2000;

    @TempDir
    private Path folder;

    private Optional<QueueSimulation> opened = Optional.empty();

    @BeforeEach
    void open() throws Exception {
        opened = Optional.of(new QueueSimulation(1, folder.resolve("ledger")));
    }

    @AfterEach
    void close() throws Exception {
        walk().close();
    }

    private QueueSimulation walk() {
        return opened.orElseThrow();
    }

    private void until(BooleanSupplier what) throws Exception {
        for (int i = 0; i < STEP_LIMIT && !what.getAsBoolean(); i++) {
            walk().step();
        }
        assertThat(what.getAsBoolean()).as("within " + STEP_LIMIT + " steps").isTrue();
    }

    private Optional<JobStatus> status(FakeSlurmJob job) {
        return Optional.ofNullable(walk().statuses.all.get(job.id));
    }

    @Test
    void a_job_runs_on_its_tickets_nodes_and_its_statement_has_the_seconds_of_each_phase() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 2);
        until(walk()::isOver);
        assertThat(job.ends).isEqualTo(1);
        assertThat(job.accounted)
                .startsWith("v=1 features=- ticket=")
                .containsPattern(" attempt=1 queue=0.040 boot=0.051 registration=[0-9.]+ teardown=[0-9.]+$");
    }

    @Test
    void a_job_that_fails_again_and_again_is_held_with_the_reason_and_tried_anew_when_released() throws Exception {
        walk().workers.failures = 1000;
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.waitsFor.equals("JobHeldAdmin"));
        assertThat(walk().workers.requested()).isEqualTo(3);
        walk().step();
        assertThat(status(job).orElseThrow().text())
                .contains("attempt 3 failed in boot (boot)", "try again", "scontrol release 1");
        walk().workers.failures = 0;
        job.waitsFor = "";
        until(walk()::isOver);
        assertThat(job.ends).isEqualTo(1);
    }

    @Test
    void a_job_that_came_around_the_plugin_is_held_and_gets_nothing() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        job.admin = "";
        until(() -> job.waitsFor.equals("JobHeldAdmin"));
        assertThat(status(job).orElseThrow().text()).contains("want one that the submit plugin wrote");
        assertThat(walk().workers.requested()).isZero();
    }

    @Test
    void a_set_that_is_larger_than_the_quota_is_held_with_both_values() throws Exception {
        FakeSlurmJob first = walk().slurm.submit("5+0", 1);
        first.set = 5;
        for (int component = 1; component <= QueueSimulation.QUOTA; component++) {
            walk().slurm.submit("5+" + component, 1).set = 5;
        }
        until(() -> first.waitsFor.equals("JobHeldAdmin"));
        assertThat(status(first).orElseThrow().text()).contains("want at most 5", "have 6");
    }

    @Test
    void a_waiting_job_says_who_is_to_act() throws Exception {
        FakeSlurmJob dependent = walk().slurm.submit("1", 1);
        dependent.waitsFor = "Dependency";
        FakeSlurmJob job = walk().slurm.submit("2", 1);
        walk().step();
        walk().step();
        assertThat(status(dependent)).contains(new JobStatus("slurm", "", "Slurm says Dependency"));
        assertThat(status(job).map(JobStatus::waitsOn))
                .hasValueSatisfying(on -> assertThat(on).isIn("the site", "the site's hosts"));
    }

    @Test
    void while_no_worker_reaches_slurmctld_a_job_whose_nodes_have_come_says_so() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        walk().slurmctldReachable = false;
        until(() ->
                status(job).filter(each -> each.phase().equals("registration")).isPresent());
        assertThat(status(job)).hasValueSatisfying(statuses -> {
            assertThat(statuses.waitsOn()).isEqualTo("the controlling VM");
            assertThat(statuses.text()).contains("the filter before slurmctld does not run");
        });
    }

    @Test
    void a_job_that_is_held_while_its_nodes_come_gives_them_back() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 2);
        until(() -> walk().workers.inFlight() == 1);
        job.waitsFor = "JobHeldUser";
        until(() -> walk().workers.inFlight() == 0 && !walk().slurm.hasNodes());
        assertThat(job.state).isEqualTo(LocalSlurmJobState.PENDING);
        assertThat(job.features).isEqualTo(LocalSlurm.UNPLACED);
    }

    @Test
    void statements_wait_for_accounting_in_the_ledger() throws Exception {
        walk().slurm.accounting = false;
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.state == LocalSlurmJobState.ENDED);
        job.forgotten = true;
        for (int i = 0; i < 200; i++) {
            walk().step();
        }
        assertThat(walk().ledger.entries()).hasSize(1);
        walk().slurm.accounting = true;
        until(walk()::isOver);
        assertThat(job.accounted).contains(" teardown=");
    }

    @Test
    void a_statement_is_made_again_when_slurmctld_has_forgotten_the_job() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.accounted.contains(" teardown="));
        walk().slurm.write();
        walk().slurm.forget(false);
        assertThat(job.accounted).doesNotContain(" teardown=");
        until(walk()::isOver);
        assertThat(job.accounted).contains(" teardown=");
    }

    @Test
    void nodes_of_no_ticket_are_removed() throws Exception {
        walk().slurm.register("vm-stranger-0", QueueSamples.OTHER);
        until(() -> !walk().slurm.hasNodes());
    }

    @Test
    void a_job_whose_end_slurmctld_has_forgotten_leaves_its_lost_nodes_at_once_and_runs_again() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 2);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().slurm.write();
        until(() -> job.state == LocalSlurmJobState.ENDED && walk().workers.inFlight() == 0);
        walk().slurm.forget(false);
        assertThat(job.state).isEqualTo(LocalSlurmJobState.RUNNING);
        long from = walk().nowMs;
        until(() -> job.state == LocalSlurmJobState.PENDING);
        assertThat(walk().nowMs - from).isLessThan(2_000);
        until(walk()::isOver);
        assertThat(job.restarts).isEqualTo(1);
        assertThat(job.ends).isEqualTo(1);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    @Test
    void a_start_is_written_down_as_soon_as_slurmctld_answers() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        walk().slurm.unsaved = true;
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().step();
        walk().slurm.unsaved = false;
        walk().step();
        walk().slurm.forget(true);
        assertThat(job.state).isEqualTo(LocalSlurmJobState.RUNNING);
        until(walk()::isOver);
        assertThat(job.restarts).isZero();
        assertThat(walk().workers.requested()).isEqualTo(1);
    }

    @Test
    void a_job_whose_node_is_lost_runs_again_at_once_on_another() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 2);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        long from = walk().nowMs;
        walk().workers.lose(job.nodes.iterator().next());
        until(() -> job.state == LocalSlurmJobState.PENDING);
        assertThat(walk().nowMs - from).isLessThan(2_000);
        until(walk()::isOver);
        assertThat(job.restarts).isEqualTo(1);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    /** Slurm never declares a silent node dead: docs/slurm.md, SlurmdTimeout. */
    @Test
    void a_job_whose_ticket_ended_while_the_controller_was_down_runs_again() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 2);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().step();
        walk().die();
        walk().workers.endAll();
        until(() -> job.state == LocalSlurmJobState.PENDING);
        until(walk()::isOver);
        assertThat(job.restarts).isEqualTo(1);
        assertThat(job.ends).isEqualTo(1);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    @Test
    void a_node_that_a_waiting_job_names_stays_until_the_job_runs_on_another() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        String node = job.nodes.get(0);
        walk().slurm.requeue(job);
        job.waitsFor = "JobHeldUser";
        job.runsMs = 30_000;
        long from = walk().nowMs;
        until(() -> walk().nowMs - from > 60_000);
        assertThat(walk().slurm.hasNode(node)).isTrue();
        assertThat(walk().workers.inFlight()).isZero();
        job.waitsFor = "";
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        assertThat(walk().slurm.hasNode(node)).isTrue();
        until(() -> !walk().slurm.hasNode(node));
        assertThat(job.state).isEqualTo(LocalSlurmJobState.RUNNING);
        until(walk()::isOver);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    @Test
    void a_node_that_a_waiting_job_names_goes_when_the_job_is_cancelled() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().slurm.requeue(job);
        job.waitsFor = "JobHeldUser";
        until(() -> walk().workers.inFlight() == 0);
        walk().slurm.cancel(job);
        until(walk()::isOver);
        assertThat(walk().workers.requested()).isEqualTo(1);
    }

    @Test
    void nodes_that_rest_keep_no_other_job_from_its_ticket() throws Exception {
        FakeSlurmJob first = walk().slurm.submit("1", 1);
        until(() -> first.state == LocalSlurmJobState.ENDED && walk().workers.inFlight() == 0);
        assertThat(walk().slurm.hasNodes()).isTrue();
        List<FakeSlurmJob> others = new ArrayList<>();
        for (int i = 2; i <= 1 + QueueSimulation.QUOTA; i++) {
            others.add(walk().slurm.submit(Integer.toString(i), 1));
        }
        until(() -> others.stream().allMatch(job -> job.state == LocalSlurmJobState.RUNNING));
        assertThat(walk().slurm.hasNodes()).isTrue();
        until(walk()::isOver);
    }

    @Test
    void a_job_whose_start_slurmctld_has_forgotten_gets_other_nodes() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        job.runsMs = 5_000;
        until(() -> walk().slurm.hasNodes());
        walk().slurm.write();
        walk().slurm.unsaved = true;
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().step();
        walk().slurm.forget(true);
        walk().slurm.unsaved = false;
        assertThat(job.state).isEqualTo(LocalSlurmJobState.PENDING);
        until(walk()::isOver);
        assertThat(job.ends).isEqualTo(1);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    @Test
    void nodes_rest_before_they_are_removed() {
        LocalSlurmNode out = new LocalSlurmNode("a", QueueSamples.FEATURE, LocalSlurmNode.State.UNAVAILABLE, 1, 1);
        LocalSlurmNode draining = new LocalSlurmNode("b", QueueSamples.FEATURE, LocalSlurmNode.State.DRAINING, 1, 1);
        List<LocalSlurmNode> nodes = List.of(out, draining);
        NodeCooldown cooldown = new NodeCooldown();
        cooldown.update(nodes, Set.of(), 1_000);
        assertThat(NodeRemoval.actionsFor(nodes, false, node -> cooldown.isOver(node, 10_999)))
                .isEmpty();
        assertThat(NodeRemoval.actionsFor(nodes, false, node -> cooldown.isOver(node, 11_000)))
                .containsExactly(new SlurmAction.DeleteNode("a"));
        assertThat(NodeRemoval.actionsFor(nodes, true, node -> false))
                .containsExactly(new SlurmAction.MarkNodeDown("b", "its VM has gone"));
        cooldown.update(List.of(draining), Set.of(), 12_000);
        cooldown.update(nodes, Set.of(), 13_000);
        assertThat(cooldown.isOver(out, 22_999)).isFalse();
        cooldown.update(nodes, Set.of("a"), 23_000);
        assertThat(cooldown.isOver(out, 40_000)).isFalse();
        cooldown.update(nodes, Set.of(), 41_000);
        assertThat(cooldown.isOver(out, 50_999)).isFalse();
        assertThat(cooldown.isOver(out, 51_000)).isTrue();
    }

    /** The fake Slurm dies as the real one does. */
    @Test
    void nodes_of_a_set_rest_when_the_ledger_is_lost_too() throws Exception {
        FakeSlurmJob first = walk().slurm.submit("5+0", 1);
        first.set = 5;
        walk().slurm.submit("5+1", 1).set = 5;
        until(() -> first.state == LocalSlurmJobState.RUNNING);
        walk().loseLedger();
        until(() -> first.state == LocalSlurmJobState.ENDED);
        assertThat(walk().slurm.hasNodes()).isTrue();
        until(() -> !walk().slurm.hasNodes());
        assertThat(first.ends).isEqualTo(1);
    }

    @Test
    void a_node_whose_removal_is_refused_is_down_and_its_removal_is_tried_until_it_is_gone() throws Exception {
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        walk().slurm.stubborn = 3;
        until(walk()::isOver);
        assertThat(walk().slurm.stubborn).isZero();
        assertThat(job.ends).isEqualTo(1);
    }

    @Test
    void a_job_that_slurm_finds_unfit_while_it_waits_gets_its_priority_back() throws Exception {
        FakeSlurmJob fresh = walk().slurm.submit("1", 1);
        fresh.badConstraints = true;
        FakeSlurmJob requested = walk().slurm.submit("2", 1);
        until(() -> walk().workers.requested() > 0);
        requested.badConstraints = true;
        until(walk()::isOver);
        assertThat(fresh.ends + requested.ends).isEqualTo(2);
        assertThat(fresh.badConstraints || requested.badConstraints).isFalse();
    }

    @Test
    void a_node_that_is_down_and_of_no_ticket_is_a_stray() throws Exception {
        walk().slurm.register("vm-stranger-0", QueueSamples.OTHER);
        walk().slurm.lose("vm-stranger-0");
        walk().slurm.stubborn = 3;
        until(() -> !walk().slurm.hasNodes());
        assertThat(walk().slurm.stubborn).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-3600, -1, 1, 3600})
    void a_clock_that_is_set_undoes_no_job(long seconds) throws Exception {
        FakeSlurmJob running = walk().slurm.submit("1", 1);
        running.runsMs = 20_000;
        until(() -> running.state == LocalSlurmJobState.RUNNING);
        FakeSlurmJob job = walk().slurm.submit("2", 2);
        until(() -> {
            walk().setClock(Duration.ofSeconds(seconds));
            return walk().isOver();
        });
        for (FakeSlurmJob each : List.of(running, job)) {
            assertThat(each.ends).isEqualTo(1);
            assertThat(each.restarts).isZero();
        }
        assertThat(walk().workers.requested()).isEqualTo(2);
    }

    @Test
    void a_job_that_failed_is_tried_again_in_time_whatever_becomes_of_the_clock() throws Exception {
        walk().workers.failures = 1000;
        FakeSlurmJob job = walk().slurm.submit("1", 1);
        until(() -> status(job).map(JobStatus::phase).equals(Optional.of("failed")));
        walk().workers.failures = 0;
        walk().setClock(Duration.ofHours(-1));
        until(() -> job.state == LocalSlurmJobState.RUNNING);
        assertThat(walk().workers.requested()).isEqualTo(2);
    }
}
