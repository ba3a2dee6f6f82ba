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
    private static final long REPEAT_CLOSE_MS = 10_000;
    /**
     * slurmctld saves up to 13 s late that it has forgotten a job, and a drive's file system takes some seconds more.
     */
    private static final long STATE_SAVED_MS = 30_000;

    private final QueueTickets tickets;
    private final WorkerAllocator workers;
    private final QueueMetrics metrics;
    private final AdminCommentWriter commentWriter;
    private final NodeCooldown cooldown = new NodeCooldown();

    TicketCleanup(
            QueueTickets tickets, WorkerAllocator workers, QueueMetrics metrics, AdminCommentWriter commentWriter) {
        this.tickets = tickets;
        this.workers = workers;
        this.metrics = metrics;
        this.commentWriter = commentWriter;
    }

    List<SlurmAction> decide(LocalSlurmSnapshot snapshot) {
        cooldown.update(snapshot.nodes(), snapshot.namedNodes(), snapshot.now.elapsedMs());
        List<SlurmAction> actions = new ArrayList<>();
        for (ActiveTicket ticket : tickets.all()) {
            if (ticket.entry.isClosing()) {
                decideClosing(ticket, snapshot, actions);
            } else if (ticket.entry.stage() == JobTicket.Stage.GONE) {
                decideGone(ticket, snapshot);
            }
        }
        actions.addAll(orphanActions(snapshot));
        return actions;
    }

    private void decideClosing(ActiveTicket ticket, LocalSlurmSnapshot snapshot, List<SlurmAction> actions) {
        JobTicket entry = ticket.entry;
        long nowMs = snapshot.now.elapsedMs();
        Map<String, LocalSlurmNode> nodes = snapshot.nodesOf(entry.ticket());
        if (ticket.reports.isEnded() && nodes.isEmpty()) {
            if (entry.stage() == JobTicket.Stage.RELEASED) {
                Duration duration = Duration.ofMillis(Math.max(0, ticket.reports.endedMs() - ticket.closedMs));
                metrics.phasePassed(WorkerPhase.TEARDOWN, duration);
                entry = entry.withPhases(Map.of(WorkerPhase.TEARDOWN, duration));
            }
            LOG.info("gone ticket={} job={}", entry.ticket(), entry.job());
            tickets.update(ticket, entry.markGone());
            return;
        }
        actions.addAll(
                NodeRemoval.actionsFor(nodes.values(), ticket.reports.isEnded(), node -> cooldown.isOver(node, nowMs)));
        if (!ticket.reports.isEnded() && !ticket.isCloseRequestedWithin(REPEAT_CLOSE_MS, nowMs)) {
            ticket.recordCloseRequest(nowMs);
            TicketTracker.requestClose(entry, workers);
        }
    }

    /**
     * Handles a ticket of which nothing remains. A job's last ticket is kept while the job continues, for its counts,
     * and until the job's final AdminComment is written: a restarted slurmctld reports its own comment to accounting
     * again for the jobs that it has not forgotten yet.
     */
    private void decideGone(ActiveTicket ticket, LocalSlurmSnapshot snapshot) {
        JobTicket entry = ticket.entry;
        Optional<LocalSlurmJob> job = snapshot.job(entry.job());
        boolean lost = ticket.missedPolls >= SchedulingPolicy.LOST_POLLS;
        if (lost
                && ticket.isMissedFor(STATE_SAVED_MS, snapshot.now.elapsedMs())
                && ticket.commentWritten
                && !ticket.commentFinal) {
            ticket.commentFinal = true;
            ticket.commentWritten = false;
        }
        boolean ended = job.isPresent() ? job.get().state() == LocalSlurmJobState.ENDED : lost;
        if (!tickets.isNewest(ticket) || (ticket.commentWritten && ticket.commentFinal)) {
            tickets.remove(ticket);
        } else if (ended && !ticket.commentWritten) {
            commentWriter.add(
                    entry.ticket(), entry.job(), AdminComment.of(entry).text());
        }
    }

    /** Returns the actions for orphaned nodes. None is removed before every ticket of the journal has a report. */
    private List<SlurmAction> orphanActions(LocalSlurmSnapshot snapshot) {
        Set<String> features = new HashSet<>();
        for (ActiveTicket ticket : tickets.all()) {
            if (!ticket.reports.hasReport() && ticket.entry.stage() != JobTicket.Stage.GONE) {
                return List.of();
            }
            features.add(LocalSlurm.feature(ticket.entry.ticket()));
        }
        return NodeRemoval.orphanActions(
                snapshot.nodes(), features, node -> cooldown.isOver(node, snapshot.now.elapsedMs()));
    }
}
