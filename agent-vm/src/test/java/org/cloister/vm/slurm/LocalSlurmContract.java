package org.cloister.vm.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.slurm.SlurmRefused;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What holds for every {@link LocalSlurm}, the real one and the one in memory: one that nobody else uses, with accounting, whose
 * block's nodes have 2 CPUs, 2000 MiB and 4000 MiB of disk. Nothing but these tests places its jobs.
 */
public abstract class LocalSlurmContract extends Looking {
    /** 22.05 has died of a node deleted 0.1 s after the end of a heterogeneous job there, while backfill still knew it. */
    private static final Duration SET_TO_REMOVAL = Duration.ofSeconds(5);

    private static final Demand SMALL = demand(1, 1, 1, 100);

    /**
     * An ordinary user's batch job that runs until it is cancelled.
     *
     * @param options as sbatch has them, in one word each: hold, begin, dependency=afterok, nice, array, job-name, comment
     * @return of an array, the array's
     */
    protected abstract JobId submit(Demand demand, String... options) throws IOException;

    /** A heterogeneous job. @return its components */
    protected abstract List<JobId> submitSet(Demand... demands) throws IOException;

    /** A ticket's nodes begin to join. */
    protected abstract void bring(String ticket, int nodes, int cpus, int memoryMib) throws IOException;

    /** All nodes that were brought end, whatever Slurm thinks of them. */
    protected abstract void endNodes() throws IOException;

    /** As its owner. */
    protected abstract void release(JobId job) throws IOException;

    protected abstract void cancel(JobId job) throws IOException;

    protected abstract void requeue(JobId job) throws IOException;

    /** The AdminComment of an ended job in accounting; empty as long as it is not there. */
    protected abstract String accounted(JobId job) throws IOException;

    @AfterEach
    void leave_nothing_behind() throws IOException {
        for (Job job : slurm().jobs()) {
            if (job.state() != JobState.ENDED && job.state() != JobState.COMPLETING) {
                cancel(job.id());
            }
        }
        try {
            awaitEnds();
        } finally {
            endNodes();
        }
    }

    private void awaitEnds() throws IOException {
        await("all ended", jobs -> jobs.stream().allMatch(job -> job.state() == JobState.ENDED));
        if (slurm().jobs().stream()
                .anyMatch(job -> job.set() != 0 && !job.nodes().isEmpty())) {
            pass(SET_TO_REMOVAL);
        }
        for (Node node : slurm().nodes()) {
            slurm().remove(node.name());
        }
    }

    @Test
    protected void waiting_jobs_come_in_the_order_in_which_slurm_takes_them() throws IOException {
        JobId last = submit(SMALL, "--nice=50");
        JobId first = submit(SMALL);
        JobId second = submit(SMALL);
        assertThat(waiting()).containsExactly(first, second, last);
        Job job = job(last);
        assertThat(job.features()).isEqualTo(LocalSlurm.UNPLACED);
        assertThat(job.admin()).hasValueSatisfying(text -> assertThat(text).startsWith("v=1 features="));
        assertThat(job.uid()).isPositive();
        assertThat(job.nodes()).isEmpty();
        assertThat(job.priority()).isPositive().isEqualTo(job(first).priority() - 50);
    }

    @Test
    protected void what_a_job_asks_is_read_as_it_was_asked() throws IOException {
        for (Demand demand : List.of(
                SMALL,
                demand(2, 4, 2, 300),
                new Demand(
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
                new Demand(3, 3, 3, 2, OptionalInt.of(1), 1536, false, 0, false, Optional.of(Duration.ofMinutes(30))),
                new Demand(1, 1, 1, 1, OptionalInt.empty(), 0, false, 0, true, Optional.of(Duration.ofMinutes(1))))) {
            assertThat(job(submit(demand)).demand()).isEqualTo(demand);
        }
    }

    @Test
    protected void a_job_that_may_not_run_yet_says_why() throws IOException {
        JobId before = submit(SMALL);
        awaitReason(submit(SMALL, "--hold"), "JobHeldUser");
        awaitReason(submit(SMALL, "--dependency=afterok:" + before), "Dependency");
        awaitReason(submit(SMALL, "--begin=now+1hour"), "BeginTime");
    }

    @Test
    protected void tasks_of_an_array_are_jobs_of_their_own_under_one_throttle() throws IOException {
        String ticket = ticket();
        JobId array = submit(SMALL, "--array=1-3%2");
        List<JobId> tasks = List.of(task(array, 1), task(array, 2), task(array, 3));
        assertThat(waiting()).containsExactlyElementsOf(tasks);
        bringIdle(ticket, 1, 2, 500);
        slurm().place(tasks.get(1), ticket, 1);
        awaitState(tasks.get(1), JobState.RUNNING);
        for (JobId task : List.of(tasks.get(0), tasks.get(2))) {
            Job job = job(task);
            assertThat(job.state()).isEqualTo(JobState.PENDING);
            assertThat(job.features()).isEqualTo(LocalSlurm.UNPLACED);
            assertThat(job.array()).isEqualTo(Long.parseLong(array.text()));
            assertThat(job.throttle()).isEqualTo(2);
            slurm().comment(task, "v=1 task=" + task);
        }
        // Split off by their comments, all of them.
        assertThat(job(tasks.get(2)).throttle()).isEqualTo(2);
        assertThat(job(tasks.get(0)).admin()).hasValue("v=1 task=" + tasks.get(0));
        assertThat(job(tasks.get(2)).admin()).hasValue("v=1 task=" + tasks.get(2));
    }

    @Test
    protected void a_set_starts_when_each_of_its_components_is_placed() throws IOException {
        String one = ticket();
        String two = ticket();
        List<JobId> set = submitSet(SMALL, demand(2, 2, 2, 100));
        assertThat(job(set.get(1)).set()).isPositive().isEqualTo(job(set.get(0)).set());
        assertThat(job(set.get(1)).demand().leastNodes()).isEqualTo(2);
        bringIdle(one, 1, 1, 500);
        bringIdle(two, 2, 1, 500);
        slurm().place(set.get(1), two, 2);
        assertThat(job(set.get(0)).features()).isEqualTo(LocalSlurm.UNPLACED);
        slurm().place(set.get(0), one, 1);
        assertThat(job(set.get(1)).features()).isEqualTo(LocalSlurm.feature(two));
        awaitState(set.get(0), JobState.RUNNING);
        awaitState(set.get(1), JobState.RUNNING);
        assertThat(job(set.get(0)).nodes()).isEqualTo(nodes(one));
        assertThat(job(set.get(1)).nodes()).isEqualTo(nodes(two));
    }

    @Test
    protected void a_placed_job_runs_on_its_tickets_nodes_past_those_before_it() throws IOException {
        String other = ticket();
        String ticket = ticket();
        JobId before = submit(SMALL);
        JobId job = submit(demand(1, 2, 1, 100));
        bringIdle(other, 1, 2, 500);
        bringIdle(ticket, 2, 1, 500);
        slurm().place(job, ticket, 2);
        awaitState(job, JobState.RUNNING);
        assertThat(job(job).nodes()).isEqualTo(nodes(ticket)).hasSize(2);
        assertThat(job(before).state()).isEqualTo(JobState.PENDING);
        assertThat(states(ticket)).containsOnly(Node.State.BUSY);
        assertThat(states(other)).containsOnly(Node.State.IDLE);
    }

    @Test
    protected void what_waits_no_more_is_neither_placed_nor_unplaced() throws IOException {
        String ticket = ticket();
        JobId job = submit(SMALL);
        bringIdle(ticket, 1, 1, 500);
        slurm().place(job, ticket, 1);
        awaitState(job, JobState.RUNNING);
        JobId ended = submit(SMALL);
        cancel(ended);
        for (JobId each : List.of(job, ended, new JobId("60000000"), new JobId("60000000+1"))) {
            assertThatThrownBy(() -> slurm().place(each, ticket, 1)).isInstanceOf(SlurmRefused.class);
            assertThatThrownBy(() -> slurm().unplace(each, SMALL)).isInstanceOf(SlurmRefused.class);
        }
        assertThat(job(job).state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    protected void a_job_that_does_not_fit_its_nodes_waits_again_as_before() throws IOException {
        String ticket = ticket();
        JobId id = submit(demand(1, 3, 1, 900));
        Job before = job(id);
        bringIdle(ticket, 2, 1, 500);
        slurm().place(id, ticket, 2);
        awaitReason(id, "BadConstraints");
        assertThat(job(id).priority()).isZero();
        slurm().unplace(id, before.demand());
        slurm().unplace(id, before.demand()); // again, as after a lost answer
        Job after = job(id);
        assertThat(after.priority()).isEqualTo(before.priority());
        assertThat(after).extracting(Job::demand, Job::features).containsExactly(before.demand(), LocalSlurm.UNPLACED);
    }

    @Test
    protected void a_job_without_a_range_has_none_after_it_was_placed() throws IOException {
        JobId id = submit(SMALL);
        Demand before = job(id).demand();
        slurm().unplace(id, before);
        assertThat(job(id).demand()).isEqualTo(before);
        String ticket = ticket();
        bringIdle(ticket, 1, 1, 500);
        slurm().place(id, ticket, 1);
        awaitState(id, JobState.RUNNING);
    }

    @Test
    protected void a_held_job_is_its_owners_to_release() throws IOException {
        JobId job = submit(SMALL);
        long priority = job(job).priority();
        slurm().hold(job);
        awaitReason(job, "JobHeldUser");
        assertThat(job(job).priority()).isZero();
        // Not let go by the way.
        slurm().unplace(job, job(job).demand());
        assertThat(job(job).priority()).isZero();
        release(job);
        assertThat(job(job).priority()).isEqualTo(priority);
        assertThatThrownBy(() -> slurm().hold(new JobId("60000000"))).isInstanceOf(SlurmRefused.class);
    }

    @Test
    protected void a_comment_stands_with_a_job_that_waits_runs_or_has_ended() throws IOException {
        String ticket = ticket();
        JobId job = submit(SMALL);
        slurm().comment(job, "v=1 features=0,3");
        assertThat(job(job).admin()).hasValue("v=1 features=0,3");
        bringIdle(ticket, 1, 1, 500);
        slurm().place(job, ticket, 1);
        awaitState(job, JobState.RUNNING);
        String longest = "v=1 x=" + "y".repeat(1018);
        slurm().comment(job, longest);
        assertThat(job(job).admin()).hasValue(longest);
        Job running = job(job);
        slurm().save(running);
        assertThat(job(job)).isEqualTo(running);
        cancel(job);
        awaitState(job, JobState.ENDED);
        slurm().save(running);
        String last = "v=1 features=0,3 ticket=" + ticket + " attempt=1 queue=1.234 boot=0.000";
        awaitHolds("a comment after the end", () -> {
            try {
                slurm().comment(job, last);
                return accounted(job).equals(last);
            } catch (SlurmRefused e) {
                // Accounting hears of the end a moment later.
                return false;
            }
        });
        assertThatThrownBy(() -> slurm().comment(new JobId("60000000"), last)).isInstanceOf(SlurmRefused.class);
    }

    @Test
    protected void a_drained_node_goes_with_its_job_and_takes_no_other() throws IOException {
        String ticket = ticket();
        JobId job = submit(SMALL);
        bringIdle(ticket, 2, 1, 500);
        List<String> nodes = nodes(ticket);
        slurm().place(job, ticket, 1);
        awaitState(job, JobState.RUNNING);
        String busy = job(job).nodes().get(0);
        for (String node : nodes) {
            slurm().drain(node, "its job has ended");
            slurm().drain(node, "again");
        }
        assertThat(slurm().nodes())
                .allMatch(node -> node.state() == (node.name().equals(busy) ? Node.State.LEAVING : Node.State.OUT));
        slurm().remove(nodes.get(nodes.get(0).equals(busy) ? 1 : 0));
        assertThat(slurm().nodes()).extracting(Node::name).containsExactly(busy);
        assertThatThrownBy(() -> slurm().remove(busy)).isInstanceOf(SlurmRefused.class);
        slurm().down(busy, "its VM has gone");
        await("the job without a node waits or ends", jobs -> find(jobs, job).state() != JobState.RUNNING);
        awaitHolds("the node is out", () -> states(ticket).equals(List.of(Node.State.OUT)));
        slurm().remove(busy);
        slurm().remove(busy);
        assertThatThrownBy(() -> slurm().drain(busy, "gone")).isInstanceOf(SlurmRefused.class);
    }

    @Test
    protected void a_requeued_job_waits_with_its_old_ticket() throws IOException {
        String ticket = ticket();
        JobId job = submit(SMALL);
        bringIdle(ticket, 1, 1, 500);
        slurm().place(job, ticket, 1);
        awaitState(job, JobState.RUNNING);
        requeue(job);
        awaitState(job, JobState.PENDING);
        assertThat(job(job).restarts()).isEqualTo(1);
        assertThat(job(job).features()).isEqualTo(LocalSlurm.feature(ticket));
        slurm().unplace(job, SMALL);
        assertThat(job(job).features()).isEqualTo(LocalSlurm.UNPLACED);
        assertThat(job(job).demand()).isEqualTo(SMALL);
    }

    @Test
    protected void no_name_nor_comment_forges_a_job() throws IOException {
        String record = "1|2|3\n" + "99       |".repeat(30) + "\nJobId=77 JobName=x\n   Priority=1\r\n77,RUNNING";
        JobId forger = submit(SMALL, "--job-name=" + record, "--comment=" + record);
        JobId array = submit(SMALL, "--job-name=" + record + "%7]", "--array=1-2%2");
        assertThat(waiting()).containsExactly(forger, task(array, 1), task(array, 2));
        assertThat(job(forger).demand()).isEqualTo(SMALL);
        assertThat(job(task(array, 1)).throttle()).isEqualTo(2);
        slurm().comment(task(array, 2), "v=1");
        slurm().comment(task(array, 1), "v=1");
        assertThat(job(task(array, 1)).throttle()).isEqualTo(2);
    }

    private static JobId task(JobId array, int task) {
        return new JobId(array + "_" + task);
    }

    private void bringIdle(String ticket, int nodes, int cpus, int memoryMib) throws IOException {
        bring(ticket, nodes, cpus, memoryMib);
        awaitHolds(nodes + " idle nodes of " + ticket, () -> {
            List<Node> all = nodesOf(ticket);
            return all.size() == nodes
                    && all.stream()
                            .allMatch(node -> node.state() == Node.State.IDLE
                                    && node.cpus() == cpus
                                    && node.memoryMib() == memoryMib);
        });
    }
}
