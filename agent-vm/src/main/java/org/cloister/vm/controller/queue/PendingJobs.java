package org.cloister.vm.controller.queue;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides on pending jobs without an open ticket: requests tickets for some, holds some, and releases some from an
 * expired ticket.
 */
final class PendingJobs {
    private static final Logger LOG = LoggerFactory.getLogger(PendingJobs.class);

    private final QueueSettings settings;
    private final QueueTickets tickets;
    private final WorkerAllocator workers;
    private final QueueMetrics metrics;
    private final JobRequests requests;
    private final SecureRandom random;

    /**
     * Result of one scheduling pass.
     *
     * @param overQuota jobs that would get a ticket with a higher quota
     */
    record Outcome(List<SlurmAction> actions, Set<LocalSlurmJobId> overQuota) {}

    PendingJobs(
            QueueSettings settings,
            QueueTickets tickets,
            WorkerAllocator workers,
            QueueMetrics metrics,
            JobRequests requests,
            SecureRandom random) {
        this.settings = settings;
        this.tickets = tickets;
        this.workers = workers;
        this.metrics = metrics;
        this.requests = requests;
        this.random = random;
    }

    Outcome decide(LocalSlurmSnapshot snapshot) {
        List<SlurmAction> actions = new ArrayList<>();
        List<TicketSelection.Candidate> candidates = new ArrayList<>();
        for (LocalSlurmJob job : snapshot.pendingJobs()) {
            Optional<ActiveTicket> last = tickets.newest(job.id());
            last.ifPresent(ticket -> watchHold(ticket, job));
            if (last.isPresent() && last.get().entry.isOpen()) {
                continue;
            }
            RequestPlanner.Result result = requests.requestFor(job, snapshot);
            if (result.request().isEmpty() || isSpent(last)) {
                if (SlurmJobReasons.waitsForNodes(job)) {
                    LOG.warn(
                            "held job={} reason=\"{}\"",
                            job.id(),
                            result.request().isEmpty() ? result.refusal() : "every attempt failed");
                    actions.add(new SlurmAction.HoldJob(job.id()));
                }
            } else if (!job.features().equals(LocalSlurm.UNPLACED)) {
                actions.add(new SlurmAction.UnassignJob(
                        job.id(), last.map(each -> each.entry.requirements()).orElse(job.requirements())));
            } else if (SlurmJobReasons.doesNotFit(job)) {
                // Any change makes 22.05.8 restore the priority that it removed, even one that changes nothing.
                actions.add(new SlurmAction.UnassignJob(job.id(), job.requirements()));
            } else if (SlurmJobReasons.waitsForNodes(job)) {
                candidates.add(new TicketSelection.Candidate(
                        job, result.request().get(), mayRequest(last, snapshot.now.elapsedMs())));
            }
        }
        TicketSelection.Outcome selection = TicketSelection.select(
                candidates,
                snapshot.pendingComponents(),
                busyTasks(snapshot),
                settings.maxTickets() - tickets.inFlight());
        selection.selected().forEach(each -> requestTicket(each, snapshot.now));
        Set<LocalSlurmJobId> overQuota = new HashSet<>();
        selection.overQuota().forEach(each -> overQuota.add(each.id()));
        return new Outcome(actions, overQuota);
    }

    private boolean isSpent(Optional<ActiveTicket> last) {
        return last.isPresent() && last.get().entry.failures() >= settings.maxAttempts();
    }

    /** Detects that a job that was held for its failures has been released by an authorized user: it is tried again. */
    private void watchHold(ActiveTicket ticket, LocalSlurmJob job) {
        if (ticket.entry.isOpen() || !isSpent(Optional.of(ticket))) {
            return;
        }
        if (SlurmJobReasons.isHeld(job) && !ticket.entry.held()) {
            tickets.update(ticket, ticket.entry.markHeld());
        } else if (ticket.entry.held() && !SlurmJobReasons.isHeld(job)) {
            tickets.update(ticket, ticket.entry.clearFailures());
        }
    }

    /** A job that Slurm has held may be released before the next poll. */
    void onActionDone(SlurmAction action) {
        if (action instanceof SlurmAction.HoldJob hold) {
            tickets.newest(hold.job())
                    .filter(ticket -> !ticket.entry.isOpen() && isSpent(Optional.of(ticket)))
                    .ifPresent(ticket -> tickets.update(ticket, ticket.entry.markHeld()));
        }
    }

    private static boolean mayRequest(Optional<ActiveTicket> last, long nowMs) {
        return last.isEmpty()
                || nowMs - last.get().closedMs
                        >= QueueRetryDelay.delayMs(last.get().entry.failures());
    }

    /** Returns when a job may get its next ticket, in milliseconds since 1970, unless the clock is set in between. */
    static long nextAttemptMs(JobTicket last) {
        return last.closedMs() + QueueRetryDelay.delayMs(last.failures());
    }

    /** Returns the number of busy tasks by array number. */
    private Map<Long, Integer> busyTasks(LocalSlurmSnapshot snapshot) {
        Map<Long, Integer> busy = new HashMap<>();
        for (LocalSlurmJob job : snapshot.jobs()) {
            boolean isBusy = job.state() == LocalSlurmJobState.RUNNING
                    || job.state() == LocalSlurmJobState.COMPLETING
                    || (job.state() != LocalSlurmJobState.ENDED
                            && tickets.newest(job.id())
                                    .filter(each -> each.entry.isOpen())
                                    .isPresent());
            if (job.arrayJobId() != 0 && isBusy) {
                busy.merge(job.arrayJobId(), 1, Integer::sum);
            }
        }
        return busy;
    }

    private void requestTicket(TicketSelection.Candidate candidate, ClockReading now) {
        LocalSlurmJob job = candidate.job();
        Optional<JobTicket> last = tickets.newest(job.id()).map(each -> each.entry);
        JobTicket entry = new JobTicket(
                Ticket.newId(random),
                job.id(),
                job.uid(),
                job.hetJobId(),
                job.restarts(),
                last.map(each -> each.attempt() + 1).orElse(JobRequests.firstAttempt(job)),
                last.map(JobTicket::failures).orElse(0),
                job.requirements(),
                candidate.request(),
                JobTicket.Stage.OPEN,
                now.wallMs(),
                0,
                false,
                false,
                Optional.empty(),
                Map.of());
        LOG.info(
                "asked ticket={} job={} attempt={} nodes={}",
                entry.ticket(),
                entry.job(),
                entry.attempt(),
                entry.request().nodes());
        metrics.ticketRequested();
        tickets.create(entry, now, () -> workers.submitTicket(entry.ticket(), entry.request()));
    }
}
