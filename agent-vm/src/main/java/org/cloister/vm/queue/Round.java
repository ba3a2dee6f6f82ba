package org.cloister.vm.queue;

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
import org.cloister.slurm.SlurmUnavailable;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.status.Status;
import org.cloister.vm.status.Statuses;
import org.cloister.vm.worker.WorkerEvent;
import org.cloister.vm.worker.Workers;

/**
 * One look at Slurm, what is decided from it, and the doing of it, to its end: no decision rests on what was seen before the
 * last one was carried out. Of one thread.
 */
final class Round {
    private final LocalSlurm slurm;
    private final Workers workers;
    private final Statuses statuses;
    private final Timings timings;
    private final InstantSource clock;
    private final LongSupplier elapsedMs;
    private final Books books;
    private final Wanted wanted;
    private final Following following;
    private final Leaving leaving;
    private final Waiting waiting;
    private final Statements statements;
    private final Steps steps;
    private final Telling telling;
    private final Map<JobId, Status> told = new HashMap<>();
    private boolean looked;
    private long lookedNs;

    /**
     * What a round needs of the world.
     *
     * @param elapsedMs a clock that nobody sets
     * @param door whether workers reach slurmctld
     */
    record World(
            ControllerSettings settings,
            LocalSlurm slurm,
            Workers workers,
            Ledger ledger,
            Statuses statuses,
            Timings timings,
            InstantSource clock,
            LongSupplier elapsedMs,
            SecureRandom random,
            BooleanSupplier door) {}

    /** @param calls runs calls of Slurm */
    Round(World world, Statements statements, Executor calls) {
        this.slurm = world.slurm;
        this.workers = world.workers;
        this.statuses = world.statuses;
        this.timings = world.timings;
        this.clock = world.clock;
        this.elapsedMs = world.elapsedMs;
        this.statements = statements;
        this.books = new Books(world.ledger, now());
        this.wanted = new Wanted(world.settings);
        this.following = new Following(world.settings, books, workers, timings, wanted);
        this.leaving = new Leaving(books, workers, timings, statements);
        this.waiting = new Waiting(world.settings, books, workers, timings, wanted, world.random);
        this.steps = new Steps(slurm, calls);
        this.telling = new Telling(world.settings, world.door);
    }

    /** After a start: what has become of the ledger's tickets is asked. */
    void resume() {
        for (Tracked ticket : books.all()) {
            if (ticket.entry.stage() != Entry.Stage.GONE) {
                workers.follow(ticket.entry.ticket());
            }
        }
    }

    /** Of a ticket that is not in the ledger, nothing is to be done. */
    void hear(WorkerEvent event) {
        books.ticket(event.ticket()).ifPresent(ticket -> ticket.heard.apply(event, elapsedMs.getAsLong()));
    }

    /** @return whether something is about to happen that no bell tells */
    boolean run() throws SlurmUnavailable, InterruptedException {
        View view = look();
        statements.takeDone().forEach(id -> books.ticket(id).ifPresent(ticket -> ticket.stated = true));
        for (Tracked ticket : books.all()) {
            ticket.looked(view.job(ticket.entry.job()).isPresent(), view.now.elapsedMs());
        }
        List<Step> first = new ArrayList<>(following.decide(view));
        books.flush();
        first.addAll(leaving.decide(view));
        Waiting.Outcome outcome = waiting.decide(view);
        first.addAll(outcome.steps());
        books.flush();
        tell(view, outcome.quota());
        for (Step step : steps.run(first)) {
            following.done(step);
            waiting.done(step);
        }
        books.flush();
        timings.standing(books.inFlight(), view.waiting().size());
        return !first.isEmpty() || isClose(view);
    }

    private Moment now() {
        return new Moment(clock.millis(), elapsedMs.getAsLong());
    }

    private View look() throws SlurmUnavailable {
        long before = System.nanoTime();
        try {
            View view = new View(slurm.jobs(), slurm.nodes(), now());
            timings.looked(Duration.ofNanos(System.nanoTime() - before));
            return view;
        } catch (SlurmUnavailable e) {
            timings.silent();
            throw e;
        } finally {
            lookedNs = System.nanoTime() - before;
        }
    }

    /** Nodes that are to become idle, jobs that are to start, nodes that are to go. */
    private boolean isClose(View view) {
        return books.all().stream()
                .anyMatch(each -> (each.entry.isOpen()
                                && !each.entry.started()
                                && each.heard.readySlots()
                                        >= each.entry.request().nodes())
                        || (each.entry.isClosing()
                                && isMoving(
                                        each, view.nodesOf(each.entry.ticket()).values())));
    }

    /** Nodes that rest, do. */
    private static boolean isMoving(Tracked closing, Collection<Node> nodes) {
        return nodes.isEmpty()
                ? closing.heard.ended()
                : nodes.stream().anyMatch(node -> node.state() != Node.State.OUT);
    }

    private void tell(View view, Set<JobId> quota) {
        Set<JobId> now = new HashSet<>();
        for (Job job : view.jobs()) {
            Optional<Tracked> last = books.newest(job.id());
            Optional<Status> status = telling.of(job, last, wanted.whyNot(job, view), quota.contains(job.id()));
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
        for (JobId old : List.copyOf(told.keySet())) {
            if (!now.contains(old)) {
                told.remove(old);
                statuses.clear(old);
            }
        }
    }

    /** How long Slurm's answers to the last look took, or it was waited for one. */
    long lookedNs() {
        return lookedNs;
    }

    /** The quota's tickets that are in use. */
    int inFlight() {
        return books.inFlight();
    }
}
