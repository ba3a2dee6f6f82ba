package org.cloister.vm.controller.queue;

import org.cloister.base.encoding.MalformedException;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;

/** What a job of Slurm would have a ticket ask for, by its demand and what our plugin wrote of it. */
final class JobRequests {
    private final QueueSettings settings;
    private final RequestPlanner requests;

    JobRequests(QueueSettings settings) {
        this.settings = settings;
        this.requests = new RequestPlanner(settings);
    }

    /** A job without the plugin's words did not come through it, and gets nothing. */
    RequestPlanner.Result requestFor(LocalSlurmJob job) {
        try {
            return requests.plan(
                    job.requirements(),
                    AdminComment.parse(job.adminComment().orElse("")).features());
        } catch (MalformedException e) {
            return RequestPlanner.Result.refused(e.getMessage() + "; submit the job again");
        }
    }

    /**
     * As {@link #requestFor}; a heterogeneous job, whose components get their tickets together, has to fit the quota as
     * a whole.
     */
    RequestPlanner.Result requestFor(LocalSlurmJob job, LocalSlurmSnapshot view) {
        int components = view.pendingComponents().getOrDefault(job.hetJobId(), 0);
        if (components > settings.maxTickets()) {
            return RequestPlanner.Result.refused("components: want at most " + settings.maxTickets()
                    + ", the project's quota of tickets, have " + components + "; submit fewer");
        }
        return requestFor(job);
    }

    /** Empty if there is nothing against it. */
    String refusalFor(LocalSlurmJob job, LocalSlurmSnapshot view) {
        return job.state() == LocalSlurmJobState.PENDING ? requestFor(job, view).refusal() : "";
    }

    /** The number of a job's first ticket that this ledger has: one higher than what its comment says. */
    static int firstAttempt(LocalSlurmJob job) {
        try {
            return AdminComment.parse(job.adminComment().orElse(""))
                            .attempt()
                            .map(AdminComment.Attempt::number)
                            .orElse(0)
                    + 1;
        } catch (MalformedException e) {
            return 1;
        }
    }
}
