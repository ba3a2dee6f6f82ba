package org.cloister.vm.controller.slurm;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

/** Assertions about a Local Slurm: now, or in the end. */
public abstract class LocalSlurmAssertions extends LocalSlurmTestData {
    private static final Duration CHECK_INTERVAL = Duration.ofMillis(50);
    /** A minute: a job that misses SIGTERM has SIGKILL after Slurm's KillWait, half a minute. */
    private static final int CHECKS = 1200;

    protected abstract LocalSlurm slurm();

    protected abstract void pass(Duration time) throws IOException;

    protected final LocalSlurmJob job(LocalSlurmJobId id) throws IOException {
        return find(slurm().jobs(), id);
    }

    protected static LocalSlurmJob find(List<LocalSlurmJob> jobs, LocalSlurmJobId id) {
        return jobs.stream()
                .filter(job -> job.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no job " + id + " in " + jobs));
    }

    protected final List<LocalSlurmJobId> waiting() throws IOException {
        return slurm().jobs().stream()
                .filter(job -> job.state() == LocalSlurmJobState.PENDING)
                .map(LocalSlurmJob::id)
                .toList();
    }

    protected final List<LocalSlurmNode> nodesOf(String ticket) throws IOException {
        return slurm().nodes().stream()
                .filter(node -> node.feature().equals(LocalSlurm.feature(ticket)))
                .toList();
    }

    protected final List<String> nodes(String ticket) throws IOException {
        return nodesOf(ticket).stream().map(LocalSlurmNode::name).sorted().toList();
    }

    protected final List<LocalSlurmNode.State> states(String ticket) throws IOException {
        return nodesOf(ticket).stream().map(LocalSlurmNode::state).toList();
    }

    protected final void awaitReason(LocalSlurmJobId id, String reason) throws IOException {
        await(id + " waits for " + reason, jobs -> find(jobs, id).reason().equals(reason));
    }

    protected final void awaitState(LocalSlurmJobId id, LocalSlurmJobState state) throws IOException {
        await(id + " is " + state, jobs -> find(jobs, id).state() == state);
    }

    protected final void await(String what, Predicate<List<LocalSlurmJob>> holds) throws IOException {
        awaitHolds(what, () -> holds.test(slurm().jobs()));
    }

    /** Condition of the present state. */
    @FunctionalInterface
    protected interface Condition {
        boolean isMet() throws IOException;
    }

    protected final void awaitHolds(String what, Condition question) throws IOException {
        for (int check = 0; check < CHECKS; check++) {
            if (question.isMet()) {
                return;
            }
            pass(CHECK_INTERVAL);
        }
        throw new AssertionError("never: " + what + "; jobs: " + slurm().jobs() + "; nodes: " + slurm().nodes());
    }
}
