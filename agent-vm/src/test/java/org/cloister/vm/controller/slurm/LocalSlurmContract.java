package org.cloister.vm.controller.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.slurm.SlurmRefusedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Contract of every {@link LocalSlurm}, the real one and the one in memory, that nobody else uses, with accounting,
 * whose block's nodes have 2 CPUs, 2000 MiB and 4000 MiB of disk. Nothing but these tests places its jobs.
 */
public abstract class LocalSlurmContract extends LocalSlurmAssertions {
    /** 22.05 has died of a node deleted 0.1 s after the end of a heterogeneous job there, while backfill still knew it. */
    private static final Duration SET_TO_REMOVAL = Duration.ofSeconds(5);

    private static final JobRequirements SMALL = demand(1, 1, 1, 100);

    /**
     * An ordinary user's batch job that runs until it is cancelled.
     *
     * @param options as sbatch has them, in one word each: hold, begin, dependency=afterok, nice, array, job-name, comment
     * @return of an array, the array's
     */
    protected abstract LocalSlurmJobId submit(JobRequirements required, String... options) throws IOException;

    /** A heterogeneous job. @return its components */
    protected abstract List<LocalSlurmJobId> submitSet(JobRequirements... requirementsOfSet) throws IOException;

    /** A ticket's nodes begin to join. */
    protected abstract void startNodes(String ticket, int nodes, int cpus, int memoryMib) throws IOException;

    /** All nodes that were brought end, whatever Slurm thinks of them. */
    protected abstract void stopNodes() throws IOException;

    /** As its owner. */
    protected abstract void release(LocalSlurmJobId job) throws IOException;

    protected abstract void cancel(LocalSlurmJobId job) throws IOException;

    protected abstract void requeue(LocalSlurmJobId job) throws IOException;

    /** The AdminComment of an ended job in accounting; empty as long as it is not there. */
    protected abstract String accounted(LocalSlurmJobId job) throws IOException;

    @AfterEach
    void leave_nothing_behind() throws IOException {
        for (LocalSlurmJob job : slurm().jobs()) {
            if (job.state() != LocalSlurmJobState.ENDED && job.state() != LocalSlurmJobState.COMPLETING) {
                cancel(job.id());
            }
        }
        try {
            awaitEnds();
        } finally {
            stopNodes();
        }
    }

    private void awaitEnds() throws IOException {
        await("all ended", jobs -> jobs.stream().allMatch(job -> job.state() == LocalSlurmJobState.ENDED));
        if (slurm().jobs().stream()
                .anyMatch(job -> job.hetJobId() != 0 && !job.nodes().isEmpty())) {
            pass(SET_TO_REMOVAL);
        }
        for (LocalSlurmNode node : slurm().nodes()) {
            slurm().deleteNode(node.name());
        }
    }

    @Test
    protected void waiting_jobs_come_in_the_order_in_which_slurm_takes_them() throws IOException {
        LocalSlurmJobId last = submit(SMALL, "--nice=50");
        LocalSlurmJobId first = submit(SMALL);
        LocalSlurmJobId second = submit(SMALL);
        assertThat(waiting()).containsExactly(first, second, last);
        LocalSlurmJob job = job(last);
        assertThat(job.features()).isEqualTo(LocalSlurm.UNPLACED);
        assertThat(job.adminComment())
                .hasValueSatisfying(text -> assertThat(text).startsWith("v=1 features="));
        assertThat(job.uid()).isPositive();
        assertThat(job.nodes()).isEmpty();
        assertThat(job.priority()).isPositive().isEqualTo(job(first).priority() - 50);
    }

    @Test
    protected void what_a_job_asks_is_read_as_it_was_asked() throws IOException {
        for (JobRequirements required : List.of(
                SMALL,
                demand(2, 4, 2, 300),
                new JobRequirements(
                        2,
                        2,
                        3,
                        1,
                        OptionalInt.of(2),
                        50,
                        true,
                        1000,
                        false,
                        Optional.of(Duration.ofHours(26).plusMinutes(5))),
                new JobRequirements(
                        3, 3, 3, 2, OptionalInt.of(1), 1536, false, 0, false, Optional.of(Duration.ofMinutes(30))),
                new JobRequirements(
                        1, 1, 1, 1, OptionalInt.empty(), 0, false, 0, true, Optional.of(Duration.ofMinutes(1))))) {
            assertThat(job(submit(required)).requirements()).isEqualTo(required);
        }
    }

    @Test
    protected void a_job_that_may_not_run_yet_says_why() throws IOException {
        LocalSlurmJobId before = submit(SMALL);
        awaitReason(submit(SMALL, "--hold"), "JobHeldUser");
        awaitReason(submit(SMALL, "--dependency=afterok:" + before), "Dependency");
        awaitReason(submit(SMALL, "--begin=now+1hour"), "BeginTime");
    }

    @Test
    protected void tasks_of_an_array_are_jobs_of_their_own_under_one_throttle() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId array = submit(SMALL, "--array=1-3%2");
        List<LocalSlurmJobId> tasks = List.of(task(array, 1), task(array, 2), task(array, 3));
        assertThat(waiting()).containsExactlyElementsOf(tasks);
        startIdleNodes(ticket, 1, 2, 500);
        slurm().placeJob(tasks.get(1), ticket, 1);
        awaitState(tasks.get(1), LocalSlurmJobState.RUNNING);
        for (LocalSlurmJobId task : List.of(tasks.get(0), tasks.get(2))) {
            LocalSlurmJob job = job(task);
            assertThat(job.state()).isEqualTo(LocalSlurmJobState.PENDING);
            assertThat(job.features()).isEqualTo(LocalSlurm.UNPLACED);
            assertThat(job.arrayJobId()).isEqualTo(Long.parseLong(array.text()));
            assertThat(job.throttle()).isEqualTo(2);
            slurm().setAdminComment(task, "v=1 task=" + task);
        }
        // Split off by their comments, all of them.
        assertThat(job(tasks.get(2)).throttle()).isEqualTo(2);
        assertThat(job(tasks.get(0)).adminComment()).hasValue("v=1 task=" + tasks.get(0));
        assertThat(job(tasks.get(2)).adminComment()).hasValue("v=1 task=" + tasks.get(2));
    }

    @Test
    protected void a_set_starts_when_each_of_its_components_is_placed() throws IOException {
        String one = ticket();
        String two = ticket();
        List<LocalSlurmJobId> set = submitSet(SMALL, demand(2, 2, 2, 100));
        assertThat(job(set.get(1)).hetJobId())
                .isPositive()
                .isEqualTo(job(set.get(0)).hetJobId());
        assertThat(job(set.get(1)).requirements().minNodes()).isEqualTo(2);
        startIdleNodes(one, 1, 1, 500);
        startIdleNodes(two, 2, 1, 500);
        slurm().placeJob(set.get(1), two, 2);
        assertThat(job(set.get(0)).features()).isEqualTo(LocalSlurm.UNPLACED);
        slurm().placeJob(set.get(0), one, 1);
        assertThat(job(set.get(1)).features()).isEqualTo(LocalSlurm.feature(two));
        awaitState(set.get(0), LocalSlurmJobState.RUNNING);
        awaitState(set.get(1), LocalSlurmJobState.RUNNING);
        assertThat(job(set.get(0)).nodes()).isEqualTo(nodes(one));
        assertThat(job(set.get(1)).nodes()).isEqualTo(nodes(two));
    }

    @Test
    protected void a_placed_job_runs_on_its_tickets_nodes_past_those_before_it() throws IOException {
        String other = ticket();
        String ticket = ticket();
        LocalSlurmJobId before = submit(SMALL);
        LocalSlurmJobId job = submit(demand(1, 2, 1, 100));
        startIdleNodes(other, 1, 2, 500);
        startIdleNodes(ticket, 2, 1, 500);
        slurm().placeJob(job, ticket, 2);
        awaitState(job, LocalSlurmJobState.RUNNING);
        assertThat(job(job).nodes()).isEqualTo(nodes(ticket)).hasSize(2);
        assertThat(job(before).state()).isEqualTo(LocalSlurmJobState.PENDING);
        assertThat(states(ticket)).containsOnly(LocalSlurmNode.State.BUSY);
        assertThat(states(other)).containsOnly(LocalSlurmNode.State.IDLE);
    }

    @Test
    protected void what_waits_no_more_is_neither_placed_nor_unplaced() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId job = submit(SMALL);
        startIdleNodes(ticket, 1, 1, 500);
        slurm().placeJob(job, ticket, 1);
        awaitState(job, LocalSlurmJobState.RUNNING);
        LocalSlurmJobId ended = submit(SMALL);
        cancel(ended);
        // Slurm 24.11 takes the place that a running job has as no change.
        String other = ticket();
        for (LocalSlurmJobId each :
                List.of(job, ended, new LocalSlurmJobId("60000000"), new LocalSlurmJobId("60000000+1"))) {
            assertThatThrownBy(() -> slurm().placeJob(each, other, 1)).isInstanceOf(SlurmRefusedException.class);
            assertThatThrownBy(() -> slurm().unplaceJob(each, SMALL)).isInstanceOf(SlurmRefusedException.class);
        }
        assertThat(job(job).state()).isEqualTo(LocalSlurmJobState.RUNNING);
    }

    @Test
    protected void a_job_that_does_not_fit_its_nodes_waits_again_as_before() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId id = submit(demand(1, 3, 1, 900));
        LocalSlurmJob before = job(id);
        startIdleNodes(ticket, 2, 1, 500);
        slurm().placeJob(id, ticket, 2);
        awaitReason(id, "BadConstraints");
        assertThat(job(id).priority()).isZero();
        slurm().unplaceJob(id, before.requirements());
        slurm().unplaceJob(id, before.requirements()); // again, as after a lost answer
        LocalSlurmJob after = job(id);
        assertThat(after.priority()).isEqualTo(before.priority());
        assertThat(after)
                .extracting(LocalSlurmJob::requirements, LocalSlurmJob::features)
                .containsExactly(before.requirements(), LocalSlurm.UNPLACED);
    }

    @Test
    protected void a_job_without_a_range_has_none_after_it_was_placed() throws IOException {
        LocalSlurmJobId id = submit(SMALL);
        JobRequirements before = job(id).requirements();
        slurm().unplaceJob(id, before);
        assertThat(job(id).requirements()).isEqualTo(before);
        String ticket = ticket();
        startIdleNodes(ticket, 1, 1, 500);
        slurm().placeJob(id, ticket, 1);
        awaitState(id, LocalSlurmJobState.RUNNING);
    }

    @Test
    protected void a_held_job_is_its_owners_to_release() throws IOException {
        LocalSlurmJobId job = submit(SMALL);
        long priority = job(job).priority();
        slurm().holdJob(job);
        awaitReason(job, "JobHeldUser");
        assertThat(job(job).priority()).isZero();
        // Not let go by the way.
        slurm().unplaceJob(job, job(job).requirements());
        assertThat(job(job).priority()).isZero();
        release(job);
        assertThat(job(job).priority()).isEqualTo(priority);
        assertThatThrownBy(() -> slurm().holdJob(new LocalSlurmJobId("60000000")))
                .isInstanceOf(SlurmRefusedException.class);
    }

    @Test
    protected void a_comment_stands_with_a_job_that_waits_runs_or_has_ended() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId job = submit(SMALL);
        slurm().setAdminComment(job, "v=1 features=0,3");
        assertThat(job(job).adminComment()).hasValue("v=1 features=0,3");
        startIdleNodes(ticket, 1, 1, 500);
        slurm().placeJob(job, ticket, 1);
        awaitState(job, LocalSlurmJobState.RUNNING);
        String longest = "v=1 x=" + "y".repeat(1018);
        slurm().setAdminComment(job, longest);
        assertThat(job(job).adminComment()).hasValue(longest);
        // On 26.05 it is Prolog at first.
        awaitReason(job, "");
        LocalSlurmJob running = job(job);
        slurm().saveState(running);
        assertThat(job(job)).isEqualTo(running);
        cancel(job);
        awaitState(job, LocalSlurmJobState.ENDED);
        slurm().saveState(running);
        String last = "v=1 features=0,3 ticket=" + ticket + " attempt=1 queue=1.234 boot=0.000";
        awaitHolds("a comment after the end", () -> {
            try {
                slurm().setAdminComment(job, last);
                return accounted(job).equals(last);
            } catch (SlurmRefusedException e) {
                // Accounting hears of the end a moment later.
                return false;
            }
        });
        assertThatThrownBy(() -> slurm().setAdminComment(new LocalSlurmJobId("60000000"), last))
                .isInstanceOf(SlurmRefusedException.class);
    }

    @Test
    protected void a_drained_node_goes_with_its_job_and_takes_no_other() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId job = submit(SMALL);
        startIdleNodes(ticket, 2, 1, 500);
        List<String> nodes = nodes(ticket);
        slurm().placeJob(job, ticket, 1);
        awaitState(job, LocalSlurmJobState.RUNNING);
        String busy = job(job).nodes().get(0);
        for (String node : nodes) {
            slurm().drainNode(node, "its job has ended");
            slurm().drainNode(node, "again");
        }
        assertThat(slurm().nodes())
                .allMatch(node -> node.state()
                        == (node.name().equals(busy)
                                ? LocalSlurmNode.State.DRAINING
                                : LocalSlurmNode.State.UNAVAILABLE));
        slurm().deleteNode(nodes.get(nodes.get(0).equals(busy) ? 1 : 0));
        assertThat(slurm().nodes()).extracting(LocalSlurmNode::name).containsExactly(busy);
        assertThatThrownBy(() -> slurm().deleteNode(busy)).isInstanceOf(SlurmRefusedException.class);
        slurm().markNodeDown(busy, "its VM has gone");
        await("the job without a node waits or ends", jobs -> find(jobs, job).state() != LocalSlurmJobState.RUNNING);
        awaitHolds("the node is out", () -> states(ticket).equals(List.of(LocalSlurmNode.State.UNAVAILABLE)));
        slurm().deleteNode(busy);
        slurm().deleteNode(busy);
        assertThatThrownBy(() -> slurm().drainNode(busy, "gone")).isInstanceOf(SlurmRefusedException.class);
    }

    @Test
    protected void a_requeued_job_waits_with_its_old_ticket() throws IOException {
        String ticket = ticket();
        LocalSlurmJobId job = submit(SMALL);
        startIdleNodes(ticket, 1, 1, 500);
        slurm().placeJob(job, ticket, 1);
        awaitState(job, LocalSlurmJobState.RUNNING);
        requeue(job);
        awaitState(job, LocalSlurmJobState.PENDING);
        assertThat(job(job).restarts()).isEqualTo(1);
        assertThat(job(job).features()).isEqualTo(LocalSlurm.feature(ticket));
        slurm().unplaceJob(job, SMALL);
        assertThat(job(job).features()).isEqualTo(LocalSlurm.UNPLACED);
        assertThat(job(job).requirements()).isEqualTo(SMALL);
    }

    @Test
    protected void no_name_nor_comment_forges_a_job() throws IOException {
        String record = "1|2|3\n" + "99       |".repeat(30) + "\nJobId=77 JobName=x\n   Priority=1\r\n77,RUNNING";
        LocalSlurmJobId forger = submit(SMALL, "--job-name=" + record, "--comment=" + record);
        LocalSlurmJobId array = submit(SMALL, "--job-name=" + record + "%7]", "--array=1-2%2");
        assertThat(waiting()).containsExactly(forger, task(array, 1), task(array, 2));
        assertThat(job(forger).requirements()).isEqualTo(SMALL);
        assertThat(job(task(array, 1)).throttle()).isEqualTo(2);
        slurm().setAdminComment(task(array, 2), "v=1");
        slurm().setAdminComment(task(array, 1), "v=1");
        assertThat(job(task(array, 1)).throttle()).isEqualTo(2);
    }

    private static LocalSlurmJobId task(LocalSlurmJobId array, int task) {
        return new LocalSlurmJobId(array + "_" + task);
    }

    private void startIdleNodes(String ticket, int nodes, int cpus, int memoryMib) throws IOException {
        startNodes(ticket, nodes, cpus, memoryMib);
        awaitHolds(nodes + " idle nodes of " + ticket, () -> {
            List<LocalSlurmNode> all = nodesOf(ticket);
            return all.size() == nodes
                    && all.stream()
                            .allMatch(node -> node.state() == LocalSlurmNode.State.IDLE
                                    && node.cpus() == cpus
                                    && node.memoryMib() == memoryMib);
        });
    }
}
