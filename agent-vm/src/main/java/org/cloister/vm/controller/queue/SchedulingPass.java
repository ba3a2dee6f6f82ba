package org.cloister.vm.controller.queue;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.status.JobStatus;
import org.cloister.vm.controller.status.JobStatusStore;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerEvent;

/**
 * A scheduling pass: polls Slurm, decides, and carries the decisions out to their end, so that no decision is based on
 * a snapshot taken before the last one was carried out. Confined to one thread.
 */
final class SchedulingPass {
    private final LocalSlurm slurm;
    private final WorkerAllocator workers;
    private final JobStatusStore statuses;
    private final QueueMetrics metrics;
    private final InstantSource clock;
    private final LongSupplier elapsedMs;
    private final QueueTickets tickets;
    private final JobRequests requests;
    private final TicketTracker tracker;
    private final TicketCleanup cleanup;
    private final PendingJobs pendingJobs;
    private final AdminCommentWriter commentWriter;
    private final SlurmActionRunner runner;
    private final JobStatusRules statusRules;
    private final Map<LocalSlurmJobId, JobStatus> published = new HashMap<>();
    private boolean retained;
    private long pollNs;

    /**
     * Collaborators of a scheduling pass.
     *
     * @param elapsedMs a clock that cannot be set
     * @param slurmctldReachable whether workers reach slurmctld
     */
    record Environment(
            QueueSettings settings,
            LocalSlurm slurm,
            WorkerAllocator workers,
            QueueJournal journal,
            JobStatusStore statuses,
            QueueMetrics metrics,
            InstantSource clock,
            LongSupplier elapsedMs,
            SecureRandom random,
            BooleanSupplier slurmctldReachable) {}

    /** @param calls runs calls of Slurm */
    SchedulingPass(Environment environment, AdminCommentWriter commentWriter, Executor calls) {
        this.slurm = environment.slurm;
        this.workers = environment.workers;
        this.statuses = environment.statuses;
        this.metrics = environment.metrics;
        this.clock = environment.clock;
        this.elapsedMs = environment.elapsedMs;
        this.commentWriter = commentWriter;
        this.tickets = new QueueTickets(environment.journal, now());
        this.requests = new JobRequests(environment.settings);
        this.tracker = new TicketTracker(environment.settings, tickets, workers, metrics, requests);
        this.cleanup = new TicketCleanup(tickets, workers, metrics, commentWriter);
        this.pendingJobs =
                new PendingJobs(environment.settings, tickets, workers, metrics, requests, environment.random);
        this.runner = new SlurmActionRunner(slurm, calls);
        this.statusRules = new JobStatusRules(environment.settings, environment.slurmctldReachable);
    }

    /** Asks the workers for the state of the journal's tickets, after a start. */
    void resume() {
        for (ActiveTicket ticket : tickets.all()) {
            if (ticket.entry.stage() != JobTicket.Stage.GONE) {
                workers.resumeTicket(ticket.entry.ticket());
            }
        }
    }

    /** Applies an event; ignores it if its ticket is not in the journal. */
    void onWorkerEvent(WorkerEvent event) {
        tickets.find(event.ticket()).ifPresent(ticket -> ticket.reports.apply(event, elapsedMs.getAsLong()));
    }

    /**
     * Runs one pass.
     *
     * @return whether a change is expected soon that causes no notification
     */
    boolean run() throws SlurmUnavailableException, InterruptedException {
        LocalSlurmSnapshot snapshot = poll();
        commentWriter.drainDone().forEach(id -> tickets.find(id).ifPresent(ticket -> ticket.commentWritten = true));
        for (ActiveTicket ticket : tickets.all()) {
            ticket.recordPoll(snapshot.job(ticket.entry.job()).isPresent(), snapshot.now.elapsedMs());
        }
        List<SlurmAction> actions = new ArrayList<>(tracker.decide(snapshot));
        tickets.flush();
        actions.addAll(cleanup.decide(snapshot));
        PendingJobs.Outcome outcome = pendingJobs.decide(snapshot);
        actions.addAll(outcome.actions());
        tickets.flush();
        publishStatuses(snapshot, outcome.overQuota());
        for (SlurmAction action : runner.run(actions)) {
            tracker.onActionDone(action);
            pendingJobs.onActionDone(action);
        }
        tickets.flush();
        metrics.setQueueState(tickets.inFlight(), snapshot.pendingJobs().size());
        return !actions.isEmpty() || isChangeExpected(snapshot);
    }

    private ClockReading now() {
        return new ClockReading(clock.millis(), elapsedMs.getAsLong());
    }

    private LocalSlurmSnapshot poll() throws SlurmUnavailableException {
        long before = System.nanoTime();
        try {
            LocalSlurmSnapshot snapshot = new LocalSlurmSnapshot(slurm.jobs(), slurm.nodes(), now());
            metrics.slurmPolled(Duration.ofNanos(System.nanoTime() - before));
            return snapshot;
        } catch (SlurmUnavailableException e) {
            metrics.slurmUnavailable();
            throw e;
        } finally {
            pollNs = System.nanoTime() - before;
        }
    }

    /** Returns whether nodes are about to become idle, jobs to start, or nodes to be removed. */
    private boolean isChangeExpected(LocalSlurmSnapshot snapshot) {
        return tickets.all().stream()
                .anyMatch(each -> (each.entry.isOpen()
                                && !each.entry.started()
                                && each.reports.readySlots()
                                        >= each.entry.request().nodes())
                        || (each.entry.isClosing()
                                && isMoving(
                                        each,
                                        snapshot.nodesOf(each.entry.ticket()).values())));
    }

    /** Nodes in their cooldown do not count. */
    private static boolean isMoving(ActiveTicket closing, Collection<LocalSlurmNode> nodes) {
        return nodes.isEmpty()
                ? closing.reports.isEnded()
                : nodes.stream().anyMatch(node -> node.state() != LocalSlurmNode.State.UNAVAILABLE);
    }

    private void publishStatuses(LocalSlurmSnapshot snapshot, Set<LocalSlurmJobId> overQuota) {
        Set<LocalSlurmJobId> now = new HashSet<>();
        for (LocalSlurmJob job : snapshot.jobs()) {
            Optional<ActiveTicket> last = tickets.newest(job.id());
            Optional<JobStatus> status =
                    statusRules.statusOf(job, last, requests.refusalFor(job, snapshot), overQuota.contains(job.id()));
            if (status.isPresent()) {
                now.add(job.id());
                if (!status.get().equals(published.put(job.id(), status.get()))) {
                    statuses.set(job.id(), status.get());
                }
            }
        }
        if (!retained) {
            retained = true;
            statuses.retain(now);
        }
        for (LocalSlurmJobId old : List.copyOf(published.keySet())) {
            if (!now.contains(old)) {
                published.remove(old);
                statuses.clear(old);
            }
        }
    }

    /** Returns how long the last poll took, or how long it waited without a response, in nanoseconds. */
    long pollNs() {
        return pollNs;
    }

    /** Returns the number of the quota's tickets that are in use. */
    int inFlight() {
        return tickets.inFlight();
    }
}
