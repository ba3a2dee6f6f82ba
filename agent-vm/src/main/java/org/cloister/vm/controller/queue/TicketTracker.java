package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what {@link SchedulingPolicy} decides for open tickets. Confined to the queue's thread. */
final class TicketTracker {
    private static final Logger LOG = LoggerFactory.getLogger(TicketTracker.class);

    private final QueueSettings settings;
    private final QueueTickets books;
    private final WorkerAllocator workers;
    private final QueueMetrics timings;
    private final JobRequests wanted;
    private final SchedulingPolicy course;

    /** Follow-ups of actions, run when the action has succeeded. */
    private final Map<SlurmAction, Runnable> whenDone = new LinkedHashMap<>();

    TicketTracker(
            QueueSettings settings,
            QueueTickets books,
            WorkerAllocator workers,
            QueueMetrics timings,
            JobRequests wanted) {
        this.settings = settings;
        this.books = books;
        this.workers = workers;
        this.timings = timings;
        this.wanted = wanted;
        this.course = new SchedulingPolicy(settings.startTimeout());
    }

    /**
     * Decides on all open tickets.
     *
     * @return actions for Slurm; {@link #onActionDone} is called for each that succeeded
     */
    List<SlurmAction> decide(LocalSlurmSnapshot view) {
        whenDone.clear();
        List<SlurmAction> steps = new ArrayList<>();
        for (List<ActiveTicket> together : groups()) {
            List<SchedulingPolicy.Observation> sights =
                    together.stream().map(each -> sight(each, view)).toList();
            long set = together.get(0).entry.hetJobId();
            long waiting = sights.stream()
                    .filter(each -> each.job().isPresent() && each.job().get().state() == LocalSlurmJobState.PENDING)
                    .count();
            boolean complete = set == 0 || waiting == view.pendingComponents().getOrDefault(set, 0);
            List<TicketDecision> verdicts = course.decide(sights, complete);
            for (int i = 0; i < verdicts.size(); i++) {
                apply(together.get(i), sights.get(i), verdicts.get(i), view.now, steps);
            }
        }
        return steps;
    }

    void onActionDone(SlurmAction step) {
        Runnable then = whenDone.get(step);
        if (then != null) {
            then.run();
        }
    }

    private Collection<List<ActiveTicket>> groups() {
        Map<String, List<ActiveTicket>> groups = new LinkedHashMap<>();
        for (ActiveTicket each : books.all()) {
            if (each.entry.isOpen()) {
                String key = each.entry.hetJobId() == 0 ? each.entry.ticket() : "set " + each.entry.hetJobId();
                groups.computeIfAbsent(key, none -> new ArrayList<>()).add(each);
            }
        }
        return groups.values();
    }

    private SchedulingPolicy.Observation sight(ActiveTicket ticket, LocalSlurmSnapshot view) {
        Optional<LocalSlurmJob> job = view.job(ticket.entry.job());
        SchedulingPolicy.Observation sight = new SchedulingPolicy.Observation(
                ticket.entry,
                ticket.reports,
                job,
                ticket.missedPolls,
                job.flatMap(each -> wanted.requestFor(each).request()),
                view.nodesOf(ticket.entry.ticket()),
                ticket.placedMs,
                view.now.elapsedMs());
        if (!sight.isPlaced()) {
            ticket.placedMs = OptionalLong.empty();
        } else if (ticket.placedMs.isEmpty()) {
            ticket.placedMs = OptionalLong.of(view.now.elapsedMs());
        }
        return sight;
    }

    private void apply(
            ActiveTicket ticket,
            SchedulingPolicy.Observation sight,
            TicketDecision verdict,
            ClockReading now,
            List<SlurmAction> steps) {
        JobTicket entry = ticket.entry;
        if (verdict instanceof TicketDecision.Ready) {
            ticket.recordRegistration(sight.nowMs());
            steps.add(new SlurmAction.AssignJob(
                    entry.job(), entry.ticket(), entry.request().nodes()));
            LOG.info(
                    "placed ticket={} job={} nodes={}",
                    entry.ticket(),
                    entry.job(),
                    entry.request().nodes());
        } else if (verdict instanceof TicketDecision.Runs runs) {
            runs(ticket, runs, sight, steps);
        } else if (verdict instanceof TicketDecision.GiveUp up && up.unplace()) {
            SlurmAction step = new SlurmAction.UnassignJob(entry.job(), entry.requirements());
            steps.add(step);
            whenDone.put(step, () -> close(ticket, up, now));
        } else if (verdict instanceof TicketDecision.GiveUp up) {
            close(ticket, up, now);
        }
    }

    private void runs(
            ActiveTicket ticket,
            TicketDecision.Runs runs,
            SchedulingPolicy.Observation sight,
            List<SlurmAction> steps) {
        JobTicket entry = ticket.entry;
        if (!entry.started()) {
            books.update(ticket, entry.withPhases(ticket.phaseDurations()).markStarted());
            timings.jobStarted(Duration.ofMillis(Math.max(0, sight.nowMs() - ticket.requestedMs)));
            ticket.phaseDurations().forEach(timings::phasePassed);
            LOG.info("started ticket={} job={}", entry.ticket(), entry.job());
        }
        if (!ticket.saved && !runs.ending()) {
            SlurmAction save = new SlurmAction.SaveState(sight.job().orElseThrow());
            steps.add(save);
            whenDone.put(save, () -> ticket.saved = true);
        }
        for (LocalSlurmNode node : sight.nodes().values()) {
            if (runs.goneNodes().contains(node.name()) && node.state() != LocalSlurmNode.State.UNAVAILABLE) {
                steps.add(new SlurmAction.MarkNodeDown(node.name(), "its VM has gone"));
            } else if (runs.ending() && NodeRemoval.acceptsJobs(node)) {
                steps.add(new SlurmAction.DrainNode(node.name(), "its job ends"));
            }
        }
    }

    /** Closes a ticket. All components of a heterogeneous job are open at once, so each records its own time. */
    private void close(ActiveTicket ticket, TicketDecision.GiveUp up, ClockReading now) {
        JobTicket entry = ticket.entry.withPhases(ticket.phaseDurations());
        int failures = entry.failures();
        if (up.failure().isPresent()) {
            EndReason trouble = up.failure().get();
            failures = trouble.retryable() ? failures + 1 : Math.max(settings.maxAttempts(), failures + 1);
            timings.attemptFailed(trouble);
            LOG.warn(
                    "failed ticket={} job={} attempt={} phase={} code={} reason=\"{}\"",
                    entry.ticket(),
                    entry.job(),
                    entry.attempt(),
                    trouble.phase(),
                    trouble.code(),
                    trouble.text());
        }
        LOG.info("closed ticket={} job={} as={}", entry.ticket(), entry.job(), up.stage());
        ticket.recordCloseRequest(now.elapsedMs());
        ticket.closedMs = now.elapsedMs();
        books.update(
                ticket,
                entry.markClosed(up.stage(), up.failure(), failures, now.wallMs()),
                () -> requestClose(ticket.entry, workers));
    }

    static void requestClose(JobTicket entry, WorkerAllocator workers) {
        if (entry.stage() == JobTicket.Stage.RELEASED) {
            workers.releaseTicket(entry.ticket());
        } else {
            workers.withdrawTicket(entry.ticket());
        }
    }
}
