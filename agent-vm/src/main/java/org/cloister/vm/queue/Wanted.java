package org.cloister.vm.queue;

import org.cloister.protocol.MalformedException;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;

/** What a job of Slurm would have a ticket ask for, by its demand and what our plugin wrote of it. */
final class Wanted {
    private final ControllerSettings settings;
    private final Requests requests;

    Wanted(ControllerSettings settings) {
        this.settings = settings;
        this.requests = new Requests(settings);
    }

    /** A job without the plugin's words did not come through it, and gets nothing. */
    Requests.Answer of(Job job) {
        try {
            return requests.of(
                    job.demand(), AdminText.parse(job.admin().orElse("")).features());
        } catch (MalformedException e) {
            return Requests.Answer.no(e.getMessage() + "; submit the job again");
        }
    }

    /** As {@link #of}; a heterogeneous job, whose components get their tickets together, has to fit the quota as a whole. */
    Requests.Answer of(Job job, View view) {
        int components = view.waitingComponents().getOrDefault(job.set(), 0);
        if (components > settings.tickets()) {
            return Requests.Answer.no("components: want at most " + settings.tickets()
                    + ", the project's quota of tickets, have " + components + "; submit fewer");
        }
        return of(job);
    }

    /** Empty if there is nothing against it. */
    String whyNot(Job job, View view) {
        return job.state() == JobState.PENDING ? of(job, view).whyNot() : "";
    }

    /** The number of a job's first ticket that this ledger has: one higher than what its comment says. */
    static int firstAttempt(Job job) {
        try {
            return AdminText.parse(job.admin().orElse(""))
                            .attempt()
                            .map(AdminText.Attempt::number)
                            .orElse(0)
                    + 1;
        } catch (MalformedException e) {
            return 1;
        }
    }
}
