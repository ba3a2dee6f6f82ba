package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Follows closed tickets until nothing of them remains, and removes nodes without a ticket. */
final class TicketCleanup {
    private static final Logger LOG = LoggerFactory.getLogger(TicketCleanup.class);
    /** Interval after which workers that have not ended a closed ticket are asked again. */
    private static final long TELL_AGAIN_MS = 10_000;
    /**
     * slurmctld saves up to 13 s late that it has forgotten a job, and a drive's file system takes some seconds more.
     */
    private static final long WRITTEN_MS = 30_000;

    private final QueueTickets books;
    private final WorkerAllocator workers;
    private final QueueMetrics timings;
    private final AdminCommentWriter statements;
    private final NodeCooldown rests = new NodeCooldown();

    TicketCleanup(QueueTickets books, WorkerAllocator workers, QueueMetrics timings, AdminCommentWriter statements) {
        this.books = books;
        this.workers = workers;
        this.timings = timings;
        this.statements = statements;
    }

    List<SlurmAction> decide(LocalSlurmSnapshot view) {
        rests.update(view.nodes(), view.now.elapsedMs());
        List<SlurmAction> steps = new ArrayList<>();
        for (ActiveTicket ticket : books.all()) {
            if (ticket.entry.isClosing()) {
                closing(ticket, view, steps);
            } else if (ticket.entry.stage() == JobTicket.Stage.GONE) {
                gone(ticket, view);
            }
        }
        steps.addAll(strays(view));
        return steps;
    }

    private void closing(ActiveTicket ticket, LocalSlurmSnapshot view, List<SlurmAction> steps) {
        JobTicket entry = ticket.entry;
        long nowMs = view.now.elapsedMs();
        Map<String, LocalSlurmNode> nodes = view.nodesOf(entry.ticket());
        if (ticket.reports.isEnded() && nodes.isEmpty()) {
            if (entry.stage() == JobTicket.Stage.RELEASED) {
                Duration took = Duration.ofMillis(Math.max(0, ticket.reports.endedMs() - ticket.closedMs));
                timings.phasePassed(WorkerPhase.TEARDOWN, took);
                entry = entry.withPhases(Map.of(WorkerPhase.TEARDOWN, took));
            }
            LOG.info("gone ticket={} job={}", entry.ticket(), entry.job());
            books.update(ticket, entry.markGone());
            return;
        }
        steps.addAll(
                NodeRemoval.actionsFor(nodes.values(), ticket.reports.isEnded(), node -> rests.isOver(node, nowMs)));
        if (!ticket.reports.isEnded() && !ticket.isCloseRequestedWithin(TELL_AGAIN_MS, nowMs)) {
            ticket.recordCloseRequest(nowMs);
            TicketTracker.requestClose(entry, workers);
        }
    }

    /**
     * Handles a ticket of which nothing remains. A job's last ticket is kept while the job continues, for its counts,
     * and until the job's final AdminComment is written: a restarted slurmctld reports its own comment to accounting
     * again for the jobs that it has not forgotten yet.
     */
    private void gone(ActiveTicket ticket, LocalSlurmSnapshot view) {
        JobTicket entry = ticket.entry;
        Optional<LocalSlurmJob> job = view.job(entry.job());
        boolean lost = ticket.missedPolls >= SchedulingPolicy.LOST_POLLS;
        if (lost
                && ticket.isMissedFor(WRITTEN_MS, view.now.elapsedMs())
                && ticket.commentWritten
                && !ticket.commentFinal) {
            ticket.commentFinal = true;
            ticket.commentWritten = false;
        }
        boolean over = job.isPresent() ? job.get().state() == LocalSlurmJobState.ENDED : lost;
        if (!books.isNewest(ticket) || (ticket.commentWritten && ticket.commentFinal)) {
            books.remove(ticket);
        } else if (over && !ticket.commentWritten) {
            statements.add(entry.ticket(), entry.job(), AdminComment.of(entry).text());
        }
    }

    /** Returns the actions for orphaned nodes. None is removed before every ticket of the journal has a report. */
    private List<SlurmAction> strays(LocalSlurmSnapshot view) {
        Set<String> features = new HashSet<>();
        for (ActiveTicket ticket : books.all()) {
            if (!ticket.reports.hasReport() && ticket.entry.stage() != JobTicket.Stage.GONE) {
                return List.of();
            }
            features.add(LocalSlurm.feature(ticket.entry.ticket()));
        }
        return NodeRemoval.orphanActions(view.nodes(), features, node -> rests.isOver(node, view.now.elapsedMs()));
    }
}
