package org.cloister.relay.tickets;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.slurm.GlobalJobState;

/**
 * Decides the next steps for one ticket from its record and Slurm's answer, without a clock. An unknown job is not an
 * absent one: a job that is not listed has ended only if accounting was queried as well, and a ticket without a job is
 * submitted again only when no earlier submission can still arrive.
 */
final class TicketReconciler {
    /** Step to perform for a ticket. */
    sealed interface Step {
        /** Submits the ticket: Slurm has no job of its name, and it never had nodes. */
        record Submit() implements Step {}

        /** Records the job as the ticket's, because it has the ticket's name. */
        record Adopt(long job) implements Step {}

        record Cancel(List<Long> jobs) implements Step {}

        /** Assigns the nodes of the job; no allocation is signed yet. */
        record Assign(GlobalJob job) implements Step {}

        record End(TicketEnd end, String text) implements Step {}
    }

    /**
     * State of a ticket as the reconciler sees it.
     *
     * @param job the recorded job id; 0 for none
     * @param stop the reason to end the ticket, if it must end
     * @param settled whether, when Slurm was queried, every sbatch ever started for the ticket had ended so long before
     *     that its submission has arrived or never will
     */
    record TicketView(TicketState state, long job, Optional<TicketEnd> stop, boolean settled) {}

    /**
     * Slurm's answer about one ticket.
     *
     * @param jobs jobs of the ticket's name in slurmctld
     * @param accounted accounting's answer when no job was listed; empty if it was not queried or did not answer
     */
    record SlurmAnswer(List<GlobalJob> jobs, Optional<List<GlobalJob>> accounted) {}

    private TicketReconciler() {}

    static List<Step> nextSteps(TicketView ticket, SlurmAnswer answer) {
        List<Step> steps = new ArrayList<>();
        Optional<GlobalJob> own = own(ticket, answer);
        List<Long> others = answer.jobs.stream()
                .filter(job -> !job.state().hasEnded() && job.state() != GlobalJobState.ENDING)
                .map(GlobalJob::id)
                .filter(id -> ticket.stop.isPresent()
                        || own.isEmpty()
                        || id != own.get().id())
                .toList();
        if (!others.isEmpty()) {
            steps.add(new Step.Cancel(others));
        }
        if (own.isPresent()) {
            follow(ticket, own.get(), steps);
        } else if (answer.accounted.isPresent() && answer.jobs.isEmpty()) {
            missing(ticket, steps);
        }
        return List.copyOf(steps);
    }

    /**
     * Returns the recorded job, or else the oldest one of the ticket's name: a later one comes from an sbatch that
     * answered late. A ticket that had nodes keeps its job.
     */
    private static Optional<GlobalJob> own(TicketView ticket, SlurmAnswer answer) {
        List<GlobalJob> all = new ArrayList<>(answer.jobs);
        if (answer.jobs.isEmpty()) {
            // An unfinished accounting record of a job that slurmctld does not have belongs to a job that slurmctld
            // lost in a crash: accounting never records its end.
            answer.accounted.ifPresent(
                    jobs -> jobs.stream().filter(job -> job.state().hasEnded()).forEach(all::add));
        }
        Optional<GlobalJob> known =
                all.stream().filter(job -> job.id() == ticket.job).findFirst();
        return known.isPresent() || ticket.state == TicketState.RUNNING
                ? known
                : all.stream().min(Comparator.comparingLong(GlobalJob::id));
    }

    private static void follow(TicketView ticket, GlobalJob job, List<Step> steps) {
        if (ticket.job != job.id()) {
            steps.add(new Step.Adopt(job.id()));
        }
        if (job.state().hasEnded()) {
            steps.add(new Step.End(end(ticket, job.state()), job.reason()));
        } else if (job.state() == GlobalJobState.RUNNING
                && ticket.state != TicketState.RUNNING
                && ticket.stop.isEmpty()) {
            steps.add(new Step.Assign(job));
        }
    }

    /**
     * Handles a job that is missing, because a slurmctld that was killed can forget a job that it had confirmed. A job
     * that had no nodes yet is submitted again: no host has claimed a slot of it.
     */
    private static void missing(TicketView ticket, List<Step> steps) {
        if (ticket.state == TicketState.RUNNING) {
            steps.add(new Step.End(
                    ticket.stop.orElse(TicketEnd.LOST), "the Global Slurm no longer knows job " + ticket.job));
        } else if (ticket.settled) {
            steps.add(ticket.stop
                    .<Step>map(stop -> new Step.End(stop, "the Global Slurm has no job for the ticket"))
                    .orElseGet(Step.Submit::new));
        }
    }

    /**
     * Returns the ticket's end. The reason to stop counts only if the job was cancelled: a job may end before the
     * cancellation arrives.
     */
    private static TicketEnd end(TicketView ticket, GlobalJobState state) {
        return switch (state) {
            case COMPLETED -> TicketEnd.COMPLETED;
            case FAILED -> TicketEnd.FAILED;
            case TIMEOUT -> TicketEnd.TIMEOUT;
            case NODE_FAILED -> TicketEnd.NODE_FAILED;
            case PREEMPTED -> TicketEnd.PREEMPTED;
            default -> ticket.stop.orElse(TicketEnd.CANCELLED);
        };
    }
}
