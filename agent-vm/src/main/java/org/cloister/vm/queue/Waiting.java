package org.cloister.vm.queue;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.worker.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Jobs that wait without a ticket: some get one, some are held, some are taken off a ticket that is none any more. */
final class Waiting {
    private static final Logger LOG = LoggerFactory.getLogger(Waiting.class);

    private final ControllerSettings settings;
    private final Books books;
    private final Workers workers;
    private final Timings timings;
    private final Wanted wanted;
    private final SecureRandom random;

    /**
     * What came of a round.
     *
     * @param quota jobs that would have a ticket with a higher quota
     */
    record Outcome(List<Step> steps, Set<JobId> quota) {}

    Waiting(
            ControllerSettings settings,
            Books books,
            Workers workers,
            Timings timings,
            Wanted wanted,
            SecureRandom random) {
        this.settings = settings;
        this.books = books;
        this.workers = workers;
        this.timings = timings;
        this.wanted = wanted;
        this.random = random;
    }

    Outcome decide(View view) {
        List<Step> steps = new ArrayList<>();
        List<Admission.Candidate> candidates = new ArrayList<>();
        for (Job job : view.waiting()) {
            Optional<Tracked> last = books.newest(job.id());
            last.ifPresent(ticket -> watchHold(ticket, job));
            if (last.isPresent() && last.get().entry.isOpen()) {
                continue;
            }
            Requests.Answer answer = wanted.of(job, view);
            if (answer.request().isEmpty() || isSpent(last)) {
                if (Reasons.waitsForNodes(job)) {
                    LOG.warn(
                            "held job={} reason=\"{}\"",
                            job.id(),
                            answer.request().isEmpty() ? answer.whyNot() : "every attempt failed");
                    steps.add(new Step.Hold(job.id()));
                }
            } else if (!job.features().equals(LocalSlurm.UNPLACED)) {
                steps.add(new Step.Unplace(
                        job.id(), last.map(each -> each.entry.demand()).orElse(job.demand())));
            } else if (Reasons.doesNotFit(job)) {
                // Any change has 22.05.8 give back the priority that it took, one to what is there already, too.
                steps.add(new Step.Unplace(job.id(), job.demand()));
            } else if (Reasons.waitsForNodes(job)) {
                candidates.add(
                        new Admission.Candidate(job, answer.request().get(), mayAsk(last, view.now.elapsedMs())));
            }
        }
        Admission.Outcome admitted = Admission.of(
                candidates, view.waitingComponents(), busyTasks(view), settings.tickets() - books.inFlight());
        admitted.admitted().forEach(each -> ask(each, view.now));
        Set<JobId> quota = new HashSet<>();
        admitted.quota().forEach(each -> quota.add(each.id()));
        return new Outcome(steps, quota);
    }

    private boolean isSpent(Optional<Tracked> last) {
        return last.isPresent() && last.get().entry.failures() >= settings.attempts();
    }

    /** A job that was held for its failures and is not any more was released by who may: it is tried again. */
    private void watchHold(Tracked ticket, Job job) {
        if (ticket.entry.isOpen() || !isSpent(Optional.of(ticket))) {
            return;
        }
        if (Reasons.isHeld(job) && !ticket.entry.held()) {
            books.change(ticket, ticket.entry.seenHeld());
        } else if (ticket.entry.held() && !Reasons.isHeld(job)) {
            books.change(ticket, ticket.entry.forgiven());
        }
    }

    /** A job that Slurm has held may be released before the next look. */
    void done(Step step) {
        if (step instanceof Step.Hold hold) {
            books.newest(hold.job())
                    .filter(ticket -> !ticket.entry.isOpen() && isSpent(Optional.of(ticket)))
                    .ifPresent(ticket -> books.change(ticket, ticket.entry.seenHeld()));
        }
    }

    private static boolean mayAsk(Optional<Tracked> last, long nowMs) {
        return last.isEmpty()
                || nowMs - last.get().closedMs >= Pace.delayMs(last.get().entry.failures());
    }

    /** When a job may have its next ticket, since 1970, unless somebody sets the clock. */
    static long againMs(Entry last) {
        return last.closedMs() + Pace.delayMs(last.failures());
    }

    /** By an array's number. */
    private Map<Long, Integer> busyTasks(View view) {
        Map<Long, Integer> busy = new HashMap<>();
        for (Job job : view.jobs()) {
            boolean has = job.state() == JobState.RUNNING
                    || job.state() == JobState.COMPLETING
                    || (job.state() == JobState.PENDING
                            && books.newest(job.id())
                                    .filter(each -> each.entry.isOpen())
                                    .isPresent());
            if (job.array() != 0 && has) {
                busy.merge(job.array(), 1, Integer::sum);
            }
        }
        return busy;
    }

    private void ask(Admission.Candidate candidate, Moment now) {
        Job job = candidate.job();
        Optional<Entry> last = books.newest(job.id()).map(each -> each.entry);
        Entry entry = new Entry(
                Ticket.newId(random),
                job.id(),
                job.uid(),
                job.set(),
                job.restarts(),
                last.map(each -> each.attempt() + 1).orElse(Wanted.firstAttempt(job)),
                last.map(Entry::failures).orElse(0),
                job.demand(),
                candidate.request(),
                Entry.Stage.OPEN,
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
        timings.asked();
        books.begin(entry, now, () -> workers.ask(entry.ticket(), entry.request()));
    }
}
