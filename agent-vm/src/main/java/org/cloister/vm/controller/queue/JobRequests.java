package org.cloister.vm.controller.queue;

import org.cloister.base.encoding.MalformedException;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;

/** Plans the resource request for a job's ticket, from the job's requirements and the submit plugin's comment. */
final class JobRequests {
    private final QueueSettings settings;
    private final RequestPlanner requests;

    JobRequests(QueueSettings settings) {
        this.settings = settings;
        this.requests = new RequestPlanner(settings);
    }

    /** Returns the request for a job. A job without the plugin's comment did not pass the plugin, and is refused. */
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
     * Returns the request as {@link #requestFor}. A heterogeneous job, whose components get their tickets together,
     * must fit the quota as a whole.
     */
    RequestPlanner.Result requestFor(LocalSlurmJob job, LocalSlurmSnapshot view) {
        int components = view.pendingComponents().getOrDefault(job.hetJobId(), 0);
        if (components > settings.maxTickets()) {
            return RequestPlanner.Result.refused("components: want at most " + settings.maxTickets()
                    + ", the project's quota of tickets, have " + components + "; submit fewer");
        }
        return requestFor(job);
    }

    /** Returns why a job gets no ticket; empty if it may get one. */
    String refusalFor(LocalSlurmJob job, LocalSlurmSnapshot view) {
        return job.state() == LocalSlurmJobState.PENDING ? requestFor(job, view).refusal() : "";
    }

    /** Returns the number of the first ticket that this journal has of a job: one higher than in the job's comment. */
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
