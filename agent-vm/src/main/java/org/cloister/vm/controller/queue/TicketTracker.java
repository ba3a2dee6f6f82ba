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
    private final QueueTickets tickets;
    private final WorkerAllocator workers;
    private final QueueMetrics metrics;
    private final JobRequests requests;
    private final SchedulingPolicy policy;

    /** Follow-ups of actions, run when the action has succeeded. */
    private final Map<SlurmAction, Runnable> followUps = new LinkedHashMap<>();

    TicketTracker(
            QueueSettings settings,
            QueueTickets tickets,
            WorkerAllocator workers,
            QueueMetrics metrics,
            JobRequests requests) {
        this.settings = settings;
        this.tickets = tickets;
        this.workers = workers;
        this.metrics = metrics;
        this.requests = requests;
        this.policy = new SchedulingPolicy(settings.startTimeout());
    }

    /**
     * Decides on all open tickets.
     *
     * @return actions for Slurm; {@link #onActionDone} is called for each that succeeded
     */
    List<SlurmAction> decide(LocalSlurmSnapshot snapshot) {
        followUps.clear();
        List<SlurmAction> actions = new ArrayList<>();
        for (List<ActiveTicket> group : groups()) {
            List<SchedulingPolicy.Observation> observations =
                    group.stream().map(each -> observe(each, snapshot)).toList();
            long set = group.get(0).entry.hetJobId();
            long waiting = observations.stream()
                    .filter(each -> each.job().isPresent() && each.job().get().state() == LocalSlurmJobState.PENDING)
                    .count();
            boolean complete =
                    set == 0 || waiting == snapshot.pendingComponents().getOrDefault(set, 0);
            List<TicketDecision> decisions = policy.decide(observations, complete);
            for (int i = 0; i < decisions.size(); i++) {
                apply(group.get(i), observations.get(i), decisions.get(i), snapshot.now, actions);
            }
        }
        return actions;
    }

    void onActionDone(SlurmAction action) {
        Runnable then = followUps.get(action);
        if (then != null) {
            then.run();
        }
    }

    private Collection<List<ActiveTicket>> groups() {
        Map<String, List<ActiveTicket>> groups = new LinkedHashMap<>();
        for (ActiveTicket each : tickets.all()) {
            if (each.entry.isOpen()) {
                String key = each.entry.hetJobId() == 0 ? each.entry.ticket() : "set " + each.entry.hetJobId();
                groups.computeIfAbsent(key, none -> new ArrayList<>()).add(each);
            }
        }
        return groups.values();
    }

    private SchedulingPolicy.Observation observe(ActiveTicket ticket, LocalSlurmSnapshot snapshot) {
        Optional<LocalSlurmJob> job = snapshot.job(ticket.entry.job());
        SchedulingPolicy.Observation observation = new SchedulingPolicy.Observation(
                ticket.entry,
                ticket.reports,
                job,
                ticket.missedPolls,
                job.flatMap(each -> requests.requestFor(each).request()),
                snapshot.nodesOf(ticket.entry.ticket()),
                ticket.placedMs,
                snapshot.now.elapsedMs());
        if (!observation.isPlaced()) {
            ticket.placedMs = OptionalLong.empty();
        } else if (ticket.placedMs.isEmpty()) {
            ticket.placedMs = OptionalLong.of(snapshot.now.elapsedMs());
        }
        return observation;
    }

    private void apply(
            ActiveTicket ticket,
            SchedulingPolicy.Observation observation,
            TicketDecision decision,
            ClockReading now,
            List<SlurmAction> actions) {
        JobTicket entry = ticket.entry;
        if (decision instanceof TicketDecision.Ready) {
            ticket.recordRegistration(observation.nowMs());
            actions.add(new SlurmAction.AssignJob(
                    entry.job(), entry.ticket(), entry.request().nodes()));
            LOG.info(
                    "placed ticket={} job={} nodes={}",
                    entry.ticket(),
                    entry.job(),
                    entry.request().nodes());
        } else if (decision instanceof TicketDecision.Runs runs) {
            applyRuns(ticket, runs, observation, actions);
        } else if (decision instanceof TicketDecision.GiveUp giveUp && giveUp.unplace()) {
            SlurmAction action = new SlurmAction.UnassignJob(entry.job(), entry.requirements());
            actions.add(action);
            followUps.put(action, () -> close(ticket, giveUp, now));
        } else if (decision instanceof TicketDecision.GiveUp giveUp) {
            close(ticket, giveUp, now);
        }
    }

    private void applyRuns(
            ActiveTicket ticket,
            TicketDecision.Runs runs,
            SchedulingPolicy.Observation observation,
            List<SlurmAction> actions) {
        JobTicket entry = ticket.entry;
        if (!entry.started()) {
            tickets.update(ticket, entry.withPhases(ticket.phaseDurations()).markStarted());
            metrics.jobStarted(Duration.ofMillis(Math.max(0, observation.nowMs() - ticket.requestedMs)));
            ticket.phaseDurations().forEach(metrics::phasePassed);
            LOG.info("started ticket={} job={}", entry.ticket(), entry.job());
        }
        if (!ticket.saved && !runs.ending()) {
            SlurmAction save = new SlurmAction.SaveState(observation.job().orElseThrow());
            actions.add(save);
            followUps.put(save, () -> ticket.saved = true);
        }
        for (LocalSlurmNode node : observation.nodes().values()) {
            if (runs.goneNodes().contains(node.name()) && node.state() != LocalSlurmNode.State.UNAVAILABLE) {
                actions.add(new SlurmAction.MarkNodeDown(node.name(), "its VM has gone"));
            } else if (runs.ending() && NodeRemoval.acceptsJobs(node)) {
                actions.add(new SlurmAction.DrainNode(node.name(), "its job ends"));
            }
        }
    }

    /** Closes a ticket. All components of a heterogeneous job are open at once, so each records its own time. */
    private void close(ActiveTicket ticket, TicketDecision.GiveUp giveUp, ClockReading now) {
        JobTicket entry = ticket.entry.withPhases(ticket.phaseDurations());
        int failures = entry.failures();
        if (giveUp.failure().isPresent()) {
            EndReason failure = giveUp.failure().get();
            failures = failure.retryable() ? failures + 1 : Math.max(settings.maxAttempts(), failures + 1);
            metrics.attemptFailed(failure);
            LOG.warn(
                    "failed ticket={} job={} attempt={} phase={} code={} reason=\"{}\"",
                    entry.ticket(),
                    entry.job(),
                    entry.attempt(),
                    failure.phase(),
                    failure.code(),
                    failure.text());
        }
        LOG.info("closed ticket={} job={} as={}", entry.ticket(), entry.job(), giveUp.stage());
        ticket.recordCloseRequest(now.elapsedMs());
        ticket.closedMs = now.elapsedMs();
        tickets.update(
                ticket,
                entry.markClosed(giveUp.stage(), giveUp.failure(), failures, now.wallMs()),
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
