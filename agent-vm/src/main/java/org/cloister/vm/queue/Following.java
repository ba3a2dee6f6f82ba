package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.cloister.vm.worker.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does for open tickets what {@link Course} decides. On the queue's thread. */
final class Following {
    private static final Logger LOG = LoggerFactory.getLogger(Following.class);

    private final ControllerSettings settings;
    private final Books books;
    private final Workers workers;
    private final Timings timings;
    private final Wanted wanted;
    private final Course course;

    /** What follows when a step is done. */
    private final Map<Step, Runnable> whenDone = new LinkedHashMap<>();

    Following(ControllerSettings settings, Books books, Workers workers, Timings timings, Wanted wanted) {
        this.settings = settings;
        this.books = books;
        this.workers = workers;
        this.timings = timings;
        this.wanted = wanted;
        this.course = new Course(settings.startLimit());
    }

    /** @return what Slurm is to do; {@link #done} hears of each that it did */
    List<Step> decide(View view) {
        whenDone.clear();
        List<Step> steps = new ArrayList<>();
        for (List<Tracked> together : groups()) {
            List<Course.Sight> sights =
                    together.stream().map(each -> sight(each, view)).toList();
            long set = together.get(0).entry.set();
            long waiting = sights.stream()
                    .filter(each -> each.job().isPresent() && each.job().get().state() == JobState.PENDING)
                    .count();
            boolean complete = set == 0 || waiting == view.waitingComponents().getOrDefault(set, 0);
            List<Verdict> verdicts = course.of(sights, complete);
            for (int i = 0; i < verdicts.size(); i++) {
                apply(together.get(i), sights.get(i), verdicts.get(i), view.now, steps);
            }
        }
        return steps;
    }

    void done(Step step) {
        Runnable then = whenDone.get(step);
        if (then != null) {
            then.run();
        }
    }

    private Collection<List<Tracked>> groups() {
        Map<String, List<Tracked>> groups = new LinkedHashMap<>();
        for (Tracked each : books.all()) {
            if (each.entry.isOpen()) {
                String key = each.entry.set() == 0 ? each.entry.ticket() : "set " + each.entry.set();
                groups.computeIfAbsent(key, none -> new ArrayList<>()).add(each);
            }
        }
        return groups.values();
    }

    private Course.Sight sight(Tracked ticket, View view) {
        Optional<Job> job = view.job(ticket.entry.job());
        Course.Sight sight = new Course.Sight(
                ticket.entry,
                ticket.heard,
                job,
                ticket.missing,
                job.flatMap(each -> wanted.of(each).request()),
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

    private void apply(Tracked ticket, Course.Sight sight, Verdict verdict, Moment now, List<Step> steps) {
        Entry entry = ticket.entry;
        if (verdict instanceof Verdict.Ready) {
            ticket.registered(sight.nowMs());
            steps.add(
                    new Step.Place(entry.job(), entry.ticket(), entry.request().nodes()));
            LOG.info(
                    "placed ticket={} job={} nodes={}",
                    entry.ticket(),
                    entry.job(),
                    entry.request().nodes());
        } else if (verdict instanceof Verdict.Runs runs) {
            runs(ticket, runs, sight, steps);
        } else if (verdict instanceof Verdict.GiveUp up && up.unplace()) {
            Step step = new Step.Unplace(entry.job(), entry.demand());
            steps.add(step);
            whenDone.put(step, () -> close(ticket, up, now));
        } else if (verdict instanceof Verdict.GiveUp up) {
            close(ticket, up, now);
        }
    }

    private void runs(Tracked ticket, Verdict.Runs runs, Course.Sight sight, List<Step> steps) {
        Entry entry = ticket.entry;
        if (!entry.started()) {
            books.change(ticket, entry.with(ticket.seconds()).begun());
            timings.started(Duration.ofMillis(Math.max(0, sight.nowMs() - ticket.askedMs)));
            ticket.seconds().forEach(timings::passed);
            LOG.info("started ticket={} job={}", entry.ticket(), entry.job());
        }
        if (!ticket.saved && !runs.ending()) {
            Step save = new Step.Save(sight.job().orElseThrow());
            steps.add(save);
            whenDone.put(save, () -> ticket.saved = true);
        }
        for (Node node : sight.nodes().values()) {
            if (runs.lost().contains(node.name()) && node.state() != Node.State.OUT) {
                steps.add(new Step.Down(node.name(), "its VM has gone"));
            } else if (runs.ending() && Ending.takesJobs(node)) {
                steps.add(new Step.Drain(node.name(), "its job ends"));
            }
        }
    }

    /** Of a set all components are open at once: each knows when it is closed. */
    private void close(Tracked ticket, Verdict.GiveUp up, Moment now) {
        Entry entry = ticket.entry.with(ticket.seconds());
        int failures = entry.failures();
        if (up.failure().isPresent()) {
            Trouble trouble = up.failure().get();
            failures = trouble.passing() ? failures + 1 : Math.max(settings.attempts(), failures + 1);
            timings.failed(trouble);
            LOG.warn(
                    "failed ticket={} job={} attempt={} phase={} code={} reason=\"{}\"",
                    entry.ticket(),
                    entry.job(),
                    entry.attempt(),
                    trouble.phase(),
                    trouble.code(),
                    trouble.text());
        }
        LOG.info("closed ticket={} job={} as={}", entry.ticket(), entry.job(), up.how());
        ticket.told(now.elapsedMs());
        ticket.closedMs = now.elapsedMs();
        books.change(
                ticket,
                entry.closed(up.how(), up.failure(), failures, now.wallMs()),
                () -> tell(ticket.entry, workers));
    }

    static void tell(Entry entry, Workers workers) {
        if (entry.stage() == Entry.Stage.RELEASED) {
            workers.release(entry.ticket());
        } else {
            workers.withdraw(entry.ticket());
        }
    }
}
