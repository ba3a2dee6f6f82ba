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
 * What to do next for one ticket, from its record and what Slurm said, without a clock. Unknown is not absent: a job that is
 * not seen has ended only when accounting was asked as well, and a ticket without a job is submitted again only when
 * nothing that was sent can still arrive.
 */
final class TicketReconciler {
    /** One thing to do. */
    sealed interface Step {
        /** Slurm has no job of its name, and it never had nodes. */
        record Submit() implements Step {}

        /** Slurm has a job of its name: it is the ticket's. */
        record Adopt(long job) implements Step {}

        record Cancel(List<Long> jobs) implements Step {}

        /** Its job has nodes, and no allocation is signed. */
        record Assign(GlobalJob job) implements Step {}

        record End(TicketEnd end, String text) implements Step {}
    }

    /**
     * @param job that the record knows; 0 for none
     * @param stop why it is to end, if it is
     * @param settled whether every sbatch of it that ever began had ended, when Slurm was asked, for so long that what it sent
     *     has arrived or never will
     */
    record TicketView(TicketState state, long job, Optional<TicketEnd> stop, boolean settled) {}

    /**
     * @param jobs jobs of its name in slurmctld
     * @param accounted what accounting said when nothing was seen; empty if it was not asked or did not answer
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
     * The record's, or else the oldest of its name: a later one is of an sbatch that answered late. A ticket that had nodes
     * has one job for good.
     */
    private static Optional<GlobalJob> own(TicketView ticket, SlurmAnswer answer) {
        List<GlobalJob> all = new ArrayList<>(answer.jobs);
        if (answer.jobs.isEmpty()) {
            // A record that goes on, of a job that slurmctld does not have, is of one that it lost in a crash:
            // accounting will
            // never hear of its end.
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
     * A slurmctld that was killed can forget a job that it had answered for. One that had no nodes yet is submitted again: no
     * host has claimed anything of it.
     */
    private static void missing(TicketView ticket, List<Step> steps) {
        if (ticket.state == TicketState.RUNNING) {
            steps.add(new Step.End(
                    ticket.stop.orElse(TicketEnd.LOST), "Global Slurm does not know job " + ticket.job + " any more"));
        } else if (ticket.settled) {
            steps.add(ticket.stop
                    .<Step>map(stop -> new Step.End(stop, "Global Slurm has no job for it"))
                    .orElseGet(Step.Submit::new));
        }
    }

    /** What was to end it counts only if it did: a job may be faster than the cancellation. */
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
