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
    private final BooleanSupplier slurmctldReachable;

    /** @param slurmctldReachable whether workers reach slurmctld */
    JobStatusRules(QueueSettings settings, BooleanSupplier slurmctldReachable) {
        this.settings = settings;
        this.slurmctldReachable = slurmctldReachable;
    }

    /**
     * Returns a job's status.
     *
     * @param last the job's last ticket
     * @param refusal why it gets no ticket as it is; empty if it may
     * @param overQuota whether only the quota prevents a ticket
     * @return empty if there is nothing to report
     */
    Optional<JobStatus> statusOf(LocalSlurmJob job, Optional<ActiveTicket> last, String refusal, boolean overQuota) {
        if (job.state() == LocalSlurmJobState.RUNNING) {
            return last.flatMap(ticket -> raisedTimeLimit(job, ticket.entry));
        }
        if (job.state() != LocalSlurmJobState.PENDING) {
            return Optional.empty();
        }
        if (last.isPresent() && last.get().entry.isOpen()) {
            return Optional.of(statusUnderTicket(job, last.get()));
        }
        if (!refusal.isEmpty()) {
            return Optional.of(new JobStatus("failed", "the job's owner", refusal));
        }
        Optional<JobTicket> failed = last.map(each -> each.entry)
                .filter(entry -> entry.failures() > 0 && entry.endReason().isPresent());
        if (failed.isPresent()) {
            return Optional.of(afterFailure(job, failed.get()));
        }
        if (!SlurmJobReasons.waitsForNodes(job)) {
            return Optional.of(slurmStatus(job));
        }
        if (overQuota) {
            return Optional.of(new JobStatus(
                    "quota",
                    "the project's other jobs",
                    "all " + settings.maxTickets() + " tickets of the project's quota are in use"));
        }
        return Optional.of(new JobStatus("slurm", "the controlling VM", "waits for its turn"));
    }

    private static JobStatus slurmStatus(LocalSlurmJob job) {
        return new JobStatus("slurm", SlurmJobReasons.isHeld(job) ? "who holds it" : "", "Slurm says " + job.reason());
    }

    private JobStatus afterFailure(LocalSlurmJob job, JobTicket entry) {
        EndReason failure = entry.endReason().orElseThrow();
        String text = "attempt " + entry.attempt() + " failed in " + failure.phase() + " (" + failure.code() + "): "
                + failure.text() + (failure.hint().isEmpty() ? "" : "; " + failure.hint());
        if (entry.failures() >= settings.maxAttempts()) {
            return new JobStatus(
                    "failed", "the job's owner", text + "; held, scontrol release " + job.id() + " tries again");
        }
        Instant nextAttempt =
                Instant.ofEpochMilli(PendingJobs.nextAttemptMs(entry)).truncatedTo(ChronoUnit.SECONDS);
        return new JobStatus("failed", "the controlling VM", text + "; tried again from " + nextAttempt);
    }

    private JobStatus statusUnderTicket(LocalSlurmJob job, ActiveTicket ticket) {
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
        if (phase == WorkerPhase.REGISTRATION && !slurmctldReachable.getAsBoolean()) {
            return new JobStatus(
                    phase.toString(),
                    "the controlling VM",
                    subject
                            + "the filter before slurmctld does not run, and is started again; "
                            + "nodes that have come wait");
        }
        return new JobStatus(
                phase.toString(),
                phase == WorkerPhase.REGISTRATION ? "Slurm" : "the site's hosts",
                subject + "want " + nodes + " nodes ready, have " + ticket.reports.readySlots());
    }

    /** Reports a raised time limit: a ticket cannot be extended, so the limit in Slurm is not the one that applies. */
    private static Optional<JobStatus> raisedTimeLimit(LocalSlurmJob job, JobTicket entry) {
        int minutes = entry.request().minutes();
        return job.requirements()
                .timeLimit()
                .filter(limit -> entry.isOpen() && limit.toSeconds() > minutes * 60L)
                .map(limit -> new JobStatus(
                        "start",
                        "",
                        "time limit: " + limit.toMinutes() + " minutes, but the job's nodes were requested for "
                                + minutes + " minutes and end after that"));
    }
}
