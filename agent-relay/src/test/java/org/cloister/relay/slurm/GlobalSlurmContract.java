package org.cloister.relay.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Contract of every {@link GlobalSlurm}, the real one and the one in memory, on a site of two nodes with 2 CPUs or more
 * and 8000 MiB each, the first with the lower name, with accounting.
 */
public abstract class GlobalSlurmContract {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

    protected abstract GlobalSlurm slurm();

    /** An account that the site has. */
    protected abstract String account();

    /** Lets some time pass before the next look. */
    protected abstract void pass() throws IOException;

    /** The steps of a ticket's running job end, well or badly. */
    protected abstract void endSteps(String ticket, boolean well) throws IOException;

    /** A node breaks down for good, until {@link #repair}. */
    protected abstract void breakNode(String node) throws IOException;

    protected abstract void repair(String node) throws IOException;

    /** Slurm stops answering, and answers again. */
    protected abstract void stopAnswering() throws IOException;

    protected abstract void answerAgain() throws IOException;

    @AfterEach
    void leave_nothing_running() throws IOException {
        for (GlobalJob job : slurm().jobs()) {
            if (!job.state().hasEnded()) {
                slurm().cancel(job.id());
            }
        }
        await(
                "all jobs ended",
                jobs -> jobs.stream().allMatch(job -> job.state().hasEnded()));
    }

    @Test
    protected void each_option_of_a_submission_is_known() throws IOException {
        slurm().requireOptions();
    }

    @Test
    protected void a_job_runs_on_its_nodes_and_ends_as_its_steps_do() throws IOException {
        for (boolean well : List.of(true, false)) {
            String ticket = ticket();
            long id = slurm().submit(submission(ticket, 2, false, 100));
            GlobalJob running = awaitState(ticket, GlobalJobState.RUNNING);
            assertThat(running.id()).isEqualTo(id);
            assertThat(running.nodes()).hasSize(2).isSorted().doesNotHaveDuplicates();
            List<NodeAllocation> shares = slurm().shares(id);
            assertThat(shares).extracting(NodeAllocation::node).isEqualTo(running.nodes());
            assertThat(shares).allMatch(share -> share.cpus() >= 1 && share.memoryMib() == 100);
            endSteps(ticket, well);
            GlobalJobState end = well ? GlobalJobState.COMPLETED : GlobalJobState.FAILED;
            awaitState(ticket, end);
            assertThat(awaitAccounted(ticket).state()).isEqualTo(end);
        }
    }

    @Test
    protected void an_exclusive_job_has_all_of_its_node() throws IOException {
        String ticket = ticket();
        long id = slurm().submit(submission(ticket, 1, true, 0));
        awaitState(ticket, GlobalJobState.RUNNING);
        assertThat(slurm().shares(id)).singleElement().matches(share -> share.memoryMib() == 8000 && share.cpus() > 1);
    }

    @Test
    protected void a_job_that_waits_and_one_that_runs_can_be_cancelled_and_cancelled_again() throws IOException {
        String running = ticket();
        String waiting = ticket();
        long first = slurm().submit(submission(running, 2, true, 0));
        awaitState(running, GlobalJobState.RUNNING);
        long second = slurm().submit(submission(waiting, 1, true, 0));
        assertThat(awaitState(waiting, GlobalJobState.PENDING).nodes()).isEmpty();
        slurm().cancel(second);
        awaitState(waiting, GlobalJobState.CANCELLED);
        slurm().cancel(first);
        awaitState(running, GlobalJobState.CANCELLED);
        slurm().cancel(first);
        slurm().cancel(second);
        slurm().cancel(60_000_000);
        assertThat(slurm().shares(60_000_000)).isEmpty();
        assertThat(awaitAccounted(waiting).state()).isEqualTo(GlobalJobState.CANCELLED);
    }

    @Test
    protected void of_two_jobs_of_one_ticket_both_are_told_and_one_runs() throws IOException {
        String ticket = ticket();
        long first = slurm().submit(submission(ticket, 1, false, 10));
        long second = slurm().submit(submission(ticket, 1, false, 10));
        await(
                "the first runs",
                jobs -> jobs.stream().anyMatch(job -> job.id() == first && job.state() == GlobalJobState.RUNNING));
        pass();
        assertThat(of(ticket, slurm().jobs()))
                .extracting(GlobalJob::id, GlobalJob::state)
                .containsExactlyInAnyOrder(tuple(first, GlobalJobState.RUNNING), tuple(second, GlobalJobState.PENDING));
    }

    @Test
    protected void what_the_site_cannot_give_is_refused_and_waits_nowhere() throws IOException {
        String ticket = ticket();
        JobSubmission unknown = new JobSubmission(
                "secure",
                ticket,
                account(),
                1,
                OptionalInt.empty(),
                1,
                OptionalInt.empty(),
                10,
                false,
                Duration.ofMinutes(5),
                List.of("no-such-feature"));
        assertThatThrownBy(() -> slurm().submit(unknown)).isInstanceOf(SlurmRefusedException.class);
        assertThatThrownBy(() -> slurm().submit(submission(ticket, 1, false, 9_000_000)))
                .isInstanceOf(SlurmRefusedException.class);
        assertThat(of(ticket, slurm().jobs())).allMatch(job -> job.state().hasEnded());
    }

    @Test
    protected void a_node_that_breaks_ends_the_job_on_it() throws IOException {
        String ticket = ticket();
        slurm().submit(submission(ticket, 2, true, 0));
        GlobalJob running = awaitState(ticket, GlobalJobState.RUNNING);
        breakNode(running.nodes().get(1));
        try {
            awaitState(ticket, GlobalJobState.NODE_FAILED);
        } finally {
            repair(running.nodes().get(1));
        }
    }

    @Test
    protected void without_an_answer_nothing_is_said_and_jobs_are_not_lost() throws IOException {
        String ticket = ticket();
        long id = slurm().submit(submission(ticket, 1, true, 0));
        awaitState(ticket, GlobalJobState.RUNNING);
        stopAnswering();
        try {
            assertThatThrownBy(() -> slurm().jobs()).isInstanceOf(SlurmUnavailableException.class);
            assertThatThrownBy(() -> slurm().submit(submission(ticket(), 1, false, 10)))
                    .isInstanceOf(SlurmUnavailableException.class);
            assertThatThrownBy(() -> slurm().shares(id)).isInstanceOf(SlurmUnavailableException.class);
            assertThatThrownBy(() -> slurm().cancel(id)).isInstanceOf(SlurmUnavailableException.class);
            assertThatThrownBy(() -> slurm().accounted(List.of(ticket))).isInstanceOf(SlurmUnavailableException.class);
        } finally {
            answerAgain();
        }
        assertThat(awaitState(ticket, GlobalJobState.RUNNING).id()).isEqualTo(id);
    }

    protected final JobSubmission submission(String ticket, int nodes, boolean exclusive, int memoryMib) {
        return new JobSubmission(
                "secure",
                ticket,
                account(),
                nodes,
                OptionalInt.empty(),
                1,
                OptionalInt.empty(),
                memoryMib,
                exclusive,
                Duration.ofMinutes(5),
                List.of());
    }

    protected static String ticket() {
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < 26; i++) {
            id.append(LETTERS.charAt(RANDOM.nextInt(LETTERS.length())));
        }
        return id.toString();
    }

    protected final GlobalJob awaitState(String ticket, GlobalJobState state) throws IOException {
        await(ticket + " is " + state, jobs -> of(ticket, jobs).stream().anyMatch(job -> job.state() == state));
        return of(ticket, slurm().jobs()).stream()
                .filter(job -> job.state() == state)
                .findFirst()
                .orElseThrow();
    }

    protected final void await(String what, Predicate<List<GlobalJob>> holds) throws IOException {
        List<GlobalJob> jobs = List.of();
        for (int poll = 0; poll < 300; poll++) {
            jobs = slurm().jobs();
            if (holds.test(jobs)) {
                return;
            }
            pass();
        }
        throw new AssertionError("never: " + what + "; jobs: " + jobs);
    }

    private GlobalJob awaitAccounted(String ticket) throws IOException {
        for (int poll = 0; poll < 300; poll++) {
            List<GlobalJob> known = slurm().accounted(List.of(ticket, ticket()));
            if (!known.isEmpty()) {
                assertThat(known).singleElement().matches(job -> job.ticket().equals(ticket));
                return known.get(0);
            }
            pass();
        }
        throw new AssertionError("accounting never knew of " + ticket);
    }

    protected static List<GlobalJob> of(String ticket, List<GlobalJob> jobs) {
        return jobs.stream().filter(job -> job.ticket().equals(ticket)).toList();
    }
}
