package org.cloister.vm.slurm;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/** What tests see of a Local Slurm: now, or in the end. */
public abstract class Looking extends Asking {
    private static final Duration LOOK = Duration.ofMillis(50);
    /** A minute: a job that misses SIGTERM has SIGKILL after Slurm's KillWait, half a minute. */
    private static final int LOOKS = 1200;

    protected abstract LocalSlurm slurm();

    protected abstract void pass(Duration time) throws IOException;

    protected final Job job(JobId id) throws IOException {
        return find(slurm().jobs(), id);
    }

    protected static Job find(List<Job> jobs, JobId id) {
        return jobs.stream()
                .filter(job -> job.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no job " + id + " in " + jobs));
    }

    protected final List<JobId> waiting() throws IOException {
        return slurm().jobs().stream()
                .filter(job -> job.state() == JobState.PENDING)
                .map(Job::id)
                .toList();
    }

    protected final List<Node> nodesOf(String ticket) throws IOException {
        return slurm().nodes().stream()
                .filter(node -> node.feature().equals(LocalSlurm.feature(ticket)))
                .toList();
    }

    protected final List<String> nodes(String ticket) throws IOException {
        return nodesOf(ticket).stream().map(Node::name).sorted().toList();
    }

    protected final List<Node.State> states(String ticket) throws IOException {
        return nodesOf(ticket).stream().map(Node::state).toList();
    }

    protected final void awaitReason(JobId id, String reason) throws IOException {
        await(id + " waits for " + reason, jobs -> find(jobs, id).reason().equals(reason));
    }

    protected final void awaitState(JobId id, JobState state) throws IOException {
        await(id + " is " + state, jobs -> find(jobs, id).state() == state);
    }

    protected final void await(String what, Predicate<List<Job>> holds) throws IOException {
        awaitHolds(what, () -> holds.test(slurm().jobs()));
    }

    /** About what is there now. */
    @FunctionalInterface
    protected interface Question {
        boolean holds() throws IOException;
    }

    protected final void awaitHolds(String what, Question question) throws IOException {
        for (int look = 0; look < LOOKS; look++) {
            if (question.holds()) {
                return;
            }
            pass(LOOK);
        }
        throw new AssertionError("never: " + what + "; jobs: " + slurm().jobs() + "; nodes: " + slurm().nodes());
    }
}
