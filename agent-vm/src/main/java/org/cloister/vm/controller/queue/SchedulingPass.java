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
    private final QueueMetrics timings;
    private final InstantSource clock;
    private final LongSupplier elapsedMs;
    private final QueueTickets books;
    private final JobRequests wanted;
    private final TicketTracker following;
    private final TicketCleanup leaving;
    private final PendingJobs waiting;
    private final AdminCommentWriter statements;
    private final SlurmActionRunner steps;
    private final JobStatusRules telling;
    private final Map<LocalSlurmJobId, JobStatus> told = new HashMap<>();
    private boolean looked;
    private long lookedNs;

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
            QueueJournal ledger,
            JobStatusStore statuses,
            QueueMetrics timings,
            InstantSource clock,
            LongSupplier elapsedMs,
            SecureRandom random,
            BooleanSupplier slurmctldReachable) {}

    /** @param calls runs calls of Slurm */
    SchedulingPass(Environment world, AdminCommentWriter statements, Executor calls) {
        this.slurm = world.slurm;
        this.workers = world.workers;
        this.statuses = world.statuses;
        this.timings = world.timings;
        this.clock = world.clock;
        this.elapsedMs = world.elapsedMs;
        this.statements = statements;
        this.books = new QueueTickets(world.ledger, now());
        this.wanted = new JobRequests(world.settings);
        this.following = new TicketTracker(world.settings, books, workers, timings, wanted);
        this.leaving = new TicketCleanup(books, workers, timings, statements);
        this.waiting = new PendingJobs(world.settings, books, workers, timings, wanted, world.random);
        this.steps = new SlurmActionRunner(slurm, calls);
        this.telling = new JobStatusRules(world.settings, world.slurmctldReachable);
    }

    /** Asks the workers for the state of the journal's tickets, after a start. */
    void resume() {
        for (ActiveTicket ticket : books.all()) {
            if (ticket.entry.stage() != JobTicket.Stage.GONE) {
                workers.resumeTicket(ticket.entry.ticket());
            }
        }
    }

    /** Applies an event; ignores it if its ticket is not in the journal. */
    void onWorkerEvent(WorkerEvent event) {
        books.find(event.ticket()).ifPresent(ticket -> ticket.reports.apply(event, elapsedMs.getAsLong()));
    }

    /**
     * Runs one pass.
     *
     * @return whether a change is expected soon that causes no notification
     */
    boolean run() throws SlurmUnavailableException, InterruptedException {
        LocalSlurmSnapshot view = poll();
        statements.drainDone().forEach(id -> books.find(id).ifPresent(ticket -> ticket.commentWritten = true));
        for (ActiveTicket ticket : books.all()) {
            ticket.recordPoll(view.job(ticket.entry.job()).isPresent(), view.now.elapsedMs());
        }
        List<SlurmAction> first = new ArrayList<>(following.decide(view));
        books.flush();
        first.addAll(leaving.decide(view));
        PendingJobs.Outcome outcome = waiting.decide(view);
        first.addAll(outcome.actions());
        books.flush();
        publishStatuses(view, outcome.overQuota());
        for (SlurmAction step : steps.run(first)) {
            following.onActionDone(step);
            waiting.onActionDone(step);
        }
        books.flush();
        timings.setQueueState(books.inFlight(), view.pendingJobs().size());
        return !first.isEmpty() || isClose(view);
    }

    private ClockReading now() {
        return new ClockReading(clock.millis(), elapsedMs.getAsLong());
    }

    private LocalSlurmSnapshot poll() throws SlurmUnavailableException {
        long before = System.nanoTime();
        try {
            LocalSlurmSnapshot view = new LocalSlurmSnapshot(slurm.jobs(), slurm.nodes(), now());
            timings.slurmPolled(Duration.ofNanos(System.nanoTime() - before));
            return view;
        } catch (SlurmUnavailableException e) {
            timings.slurmUnavailable();
            throw e;
        } finally {
            lookedNs = System.nanoTime() - before;
        }
    }

    /** Returns whether nodes are about to become idle, jobs to start, or nodes to be removed. */
    private boolean isClose(LocalSlurmSnapshot view) {
        return books.all().stream()
                .anyMatch(each -> (each.entry.isOpen()
                                && !each.entry.started()
                                && each.reports.readySlots()
                                        >= each.entry.request().nodes())
                        || (each.entry.isClosing()
                                && isMoving(
                                        each, view.nodesOf(each.entry.ticket()).values())));
    }

    /** Nodes in their cooldown do not count. */
    private static boolean isMoving(ActiveTicket closing, Collection<LocalSlurmNode> nodes) {
        return nodes.isEmpty()
                ? closing.reports.isEnded()
                : nodes.stream().anyMatch(node -> node.state() != LocalSlurmNode.State.UNAVAILABLE);
    }

    private void publishStatuses(LocalSlurmSnapshot view, Set<LocalSlurmJobId> quota) {
        Set<LocalSlurmJobId> now = new HashSet<>();
        for (LocalSlurmJob job : view.jobs()) {
            Optional<ActiveTicket> last = books.newest(job.id());
            Optional<JobStatus> status =
                    telling.statusOf(job, last, wanted.refusalFor(job, view), quota.contains(job.id()));
            if (status.isPresent()) {
                now.add(job.id());
                if (!status.get().equals(told.put(job.id(), status.get()))) {
                    statuses.set(job.id(), status.get());
                }
            }
        }
        if (!looked) {
            looked = true;
            statuses.retain(now);
        }
        for (LocalSlurmJobId old : List.copyOf(told.keySet())) {
            if (!now.contains(old)) {
                told.remove(old);
                statuses.clear(old);
            }
        }
    }

    /** Returns how long the last poll took, or how long it waited without a response, in nanoseconds. */
    long pollNs() {
        return lookedNs;
    }

    /** Returns the number of the quota's tickets that are in use. */
    int inFlight() {
        return books.inFlight();
    }
}
