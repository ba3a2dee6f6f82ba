package org.cloister.vm.queue;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.status.Status;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** What a job's owner is told of it: in which phase it is, and who is to act. Its texts change only when something does. */
final class Telling {
    private final ControllerSettings settings;
    private final BooleanSupplier door;

    /** @param door whether workers reach slurmctld */
    Telling(ControllerSettings settings, BooleanSupplier door) {
        this.settings = settings;
        this.door = door;
    }

    /**
     * @param last the job's last ticket
     * @param whyNot why it gets none as it is; empty if it may
     * @param quota whether the quota alone keeps it from one
     * @return empty of a job of which there is nothing to tell
     */
    Optional<Status> of(Job job, Optional<Tracked> last, String whyNot, boolean quota) {
        if (job.state() == JobState.RUNNING) {
            return last.flatMap(ticket -> tooLong(job, ticket.entry));
        }
        if (job.state() != JobState.PENDING) {
            return Optional.empty();
        }
        if (last.isPresent() && last.get().entry.isOpen()) {
            return Optional.of(under(job, last.get()));
        }
        if (!whyNot.isEmpty()) {
            return Optional.of(new Status("failed", "the job's owner", whyNot));
        }
        Optional<Entry> failed = last.map(each -> each.entry)
                .filter(entry -> entry.failures() > 0 && entry.trouble().isPresent());
        if (failed.isPresent()) {
            return Optional.of(afterFailure(job, failed.get()));
        }
        if (!Reasons.waitsForNodes(job)) {
            return Optional.of(slurm(job));
        }
        if (quota) {
            return Optional.of(new Status(
                    "quota",
                    "the project's other jobs",
                    "want a ticket, have all " + settings.tickets() + " of the project's quota in use"));
        }
        return Optional.of(new Status("slurm", "the controlling VM", "waits for its turn"));
    }

    private static Status slurm(Job job) {
        return new Status("slurm", Reasons.isHeld(job) ? "who holds it" : "", "Slurm says " + job.reason());
    }

    private Status afterFailure(Job job, Entry entry) {
        Trouble trouble = entry.trouble().orElseThrow();
        String what = "attempt " + entry.attempt() + " failed in " + trouble.phase() + " (" + trouble.code() + "): "
                + trouble.text() + (trouble.hint().isEmpty() ? "" : "; " + trouble.hint());
        if (entry.failures() >= settings.attempts()) {
            return new Status(
                    "failed", "the job's owner", what + "; held, scontrol release " + job.id() + " tries again");
        }
        Instant again = Instant.ofEpochMilli(Waiting.againMs(entry)).truncatedTo(ChronoUnit.SECONDS);
        return new Status("failed", "the controlling VM", what + "; tried again from " + again);
    }

    private Status under(Job job, Tracked ticket) {
        Entry entry = ticket.entry;
        int nodes = entry.request().nodes();
        if (job.features().equals(LocalSlurm.feature(entry.ticket()))) {
            return new Status("start", "Slurm", "has its " + nodes + " nodes, Slurm says " + job.reason());
        }
        String subject = "ticket " + entry.ticket() + ", attempt " + entry.attempt() + ": ";
        Phase phase = ticket.heard.phase(nodes);
        if (phase == Phase.QUEUE) {
            return new Status(phase.toString(), "the site", subject + "waits for " + nodes + " nodes of the site");
        }
        if (phase == Phase.REGISTRATION && !door.getAsBoolean()) {
            return new Status(
                    phase.toString(),
                    "the controlling VM",
                    subject
                            + "the filter before slurmctld does not run, and is started again; nodes that have come wait");
        }
        return new Status(
                phase.toString(),
                phase == Phase.REGISTRATION ? "Slurm" : "the site's hosts",
                subject + "want " + nodes + " nodes ready, have " + ticket.heard.readySlots());
    }

    /** A ticket cannot be made longer: the limit that Slurm now has is not the one that holds. */
    private static Optional<Status> tooLong(Job job, Entry entry) {
        int minutes = entry.request().minutes();
        return job.demand()
                .limit()
                .filter(limit -> entry.isOpen() && limit.toSeconds() > minutes * 60L)
                .map(limit -> new Status(
                        "start",
                        "",
                        "time limit: want at most the " + minutes + " minutes that its nodes were asked for, have "
                                + limit.toMinutes() + "; the nodes end after " + minutes + " minutes all the same"));
    }
}
