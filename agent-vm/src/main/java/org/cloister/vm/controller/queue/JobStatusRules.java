package org.cloister.vm.controller.queue;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.status.JobStatus;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/**
 * Determines the status of a job for its owner: its phase, and who acts next. The texts change only when something
 * does.
 */
final class JobStatusRules {
    private final QueueSettings settings;
    private final BooleanSupplier door;

    /** @param door whether workers reach slurmctld */
    JobStatusRules(QueueSettings settings, BooleanSupplier door) {
        this.settings = settings;
        this.door = door;
    }

    /**
     * Returns a job's status.
     *
     * @param last the job's last ticket
     * @param whyNot why it gets no ticket as it is; empty if it may
     * @param quota whether only the quota prevents a ticket
     * @return empty if there is nothing to report
     */
    Optional<JobStatus> statusOf(LocalSlurmJob job, Optional<ActiveTicket> last, String whyNot, boolean quota) {
        if (job.state() == LocalSlurmJobState.RUNNING) {
            return last.flatMap(ticket -> tooLong(job, ticket.entry));
        }
        if (job.state() != LocalSlurmJobState.PENDING) {
            return Optional.empty();
        }
        if (last.isPresent() && last.get().entry.isOpen()) {
            return Optional.of(under(job, last.get()));
        }
        if (!whyNot.isEmpty()) {
            return Optional.of(new JobStatus("failed", "the job's owner", whyNot));
        }
        Optional<JobTicket> failed = last.map(each -> each.entry)
                .filter(entry -> entry.failures() > 0 && entry.endReason().isPresent());
        if (failed.isPresent()) {
            return Optional.of(afterFailure(job, failed.get()));
        }
        if (!SlurmJobReasons.waitsForNodes(job)) {
            return Optional.of(slurm(job));
        }
        if (quota) {
            return Optional.of(new JobStatus(
                    "quota",
                    "the project's other jobs",
                    "want a ticket, have all " + settings.maxTickets() + " of the project's quota in use"));
        }
        return Optional.of(new JobStatus("slurm", "the controlling VM", "waits for its turn"));
    }

    private static JobStatus slurm(LocalSlurmJob job) {
        return new JobStatus("slurm", SlurmJobReasons.isHeld(job) ? "who holds it" : "", "Slurm says " + job.reason());
    }

    private JobStatus afterFailure(LocalSlurmJob job, JobTicket entry) {
        EndReason trouble = entry.endReason().orElseThrow();
        String what = "attempt " + entry.attempt() + " failed in " + trouble.phase() + " (" + trouble.code() + "): "
                + trouble.text() + (trouble.hint().isEmpty() ? "" : "; " + trouble.hint());
        if (entry.failures() >= settings.maxAttempts()) {
            return new JobStatus(
                    "failed", "the job's owner", what + "; held, scontrol release " + job.id() + " tries again");
        }
        Instant again = Instant.ofEpochMilli(PendingJobs.nextAttemptMs(entry)).truncatedTo(ChronoUnit.SECONDS);
        return new JobStatus("failed", "the controlling VM", what + "; tried again from " + again);
    }

    private JobStatus under(LocalSlurmJob job, ActiveTicket ticket) {
        JobTicket entry = ticket.entry;
        int nodes = entry.request().nodes();
        if (job.features().equals(LocalSlurm.feature(entry.ticket()))) {
            return new JobStatus("start", "Slurm", "has its " + nodes + " nodes, Slurm says " + job.reason());
        }
        String subject = "ticket " + entry.ticket() + ", attempt " + entry.attempt() + ": ";
        WorkerPhase phase = ticket.reports.currentPhase(nodes);
        if (phase == WorkerPhase.QUEUE) {
            return new JobStatus(phase.toString(), "the site", subject + "waits for " + nodes + " nodes of the site");
        }
        if (phase == WorkerPhase.REGISTRATION && !door.getAsBoolean()) {
            return new JobStatus(
                    phase.toString(),
                    "the controlling VM",
                    subject
                            + "the filter before slurmctld does not run, and is started again; nodes that have come wait");
        }
        return new JobStatus(
                phase.toString(),
                phase == WorkerPhase.REGISTRATION ? "Slurm" : "the site's hosts",
                subject + "want " + nodes + " nodes ready, have " + ticket.reports.readySlots());
    }

    /** Reports a raised time limit: a ticket cannot be extended, so the limit in Slurm is not the one that applies. */
    private static Optional<JobStatus> tooLong(LocalSlurmJob job, JobTicket entry) {
        int minutes = entry.request().minutes();
        return job.requirements()
                .timeLimit()
                .filter(limit -> entry.isOpen() && limit.toSeconds() > minutes * 60L)
                .map(limit -> new JobStatus(
                        "start",
                        "",
                        "time limit: want at most the " + minutes + " minutes that its nodes were asked for, have "
                                + limit.toMinutes() + "; the nodes end after " + minutes + " minutes all the same"));
    }
}
