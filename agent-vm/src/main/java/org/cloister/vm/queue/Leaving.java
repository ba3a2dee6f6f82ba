package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closed tickets until nothing is left of them, and nodes that are of no ticket. */
final class Leaving {
    private static final Logger LOG = LoggerFactory.getLogger(Leaving.class);
    /** After which workers that have not ended a closed ticket are told again. */
    private static final long TELL_AGAIN_MS = 10_000;
    /** slurmctld writes down up to 13 s late that it has forgotten a job, and a drive's file system some seconds more. */
    private static final long WRITTEN_MS = 30_000;

    private final Books books;
    private final Workers workers;
    private final Timings timings;
    private final Statements statements;
    private final Rests rests = new Rests();

    Leaving(Books books, Workers workers, Timings timings, Statements statements) {
        this.books = books;
        this.workers = workers;
        this.timings = timings;
        this.statements = statements;
    }

    List<Step> decide(View view) {
        rests.look(view.nodes(), view.now.elapsedMs());
        List<Step> steps = new ArrayList<>();
        for (Tracked ticket : books.all()) {
            if (ticket.entry.isClosing()) {
                closing(ticket, view, steps);
            } else if (ticket.entry.stage() == Entry.Stage.GONE) {
                gone(ticket, view);
            }
        }
        steps.addAll(strays(view));
        return steps;
    }

    private void closing(Tracked ticket, View view, List<Step> steps) {
        Entry entry = ticket.entry;
        long nowMs = view.now.elapsedMs();
        Map<String, Node> nodes = view.nodesOf(entry.ticket());
        if (ticket.heard.ended() && nodes.isEmpty()) {
            if (entry.stage() == Entry.Stage.RELEASED) {
                Duration took = Duration.ofMillis(Math.max(0, ticket.heard.endedMs() - ticket.closedMs));
                timings.passed(Phase.TEARDOWN, took);
                entry = entry.with(Map.of(Phase.TEARDOWN, took));
            }
            LOG.info("gone ticket={} job={}", entry.ticket(), entry.job());
            books.change(ticket, entry.gone());
            return;
        }
        steps.addAll(Ending.of(nodes.values(), ticket.heard.ended(), node -> rests.isOver(node, nowMs)));
        if (!ticket.heard.ended() && !ticket.isToldWithin(TELL_AGAIN_MS, nowMs)) {
            ticket.told(nowMs);
            Following.tell(entry, workers);
        }
    }

    /**
     * Its job's last is kept while the job goes on, for what it counts, and until the job's statement is made for good: a
     * slurmctld that is started again tells accounting anew what it has itself of the jobs that it has not forgotten yet.
     */
    private void gone(Tracked ticket, View view) {
        Entry entry = ticket.entry;
        Optional<Job> job = view.job(entry.job());
        boolean lost = ticket.missing >= Course.LOST_LOOKS;
        if (lost && ticket.isMissedFor(WRITTEN_MS, view.now.elapsedMs()) && ticket.stated && !ticket.last) {
            ticket.last = true;
            ticket.stated = false;
        }
        boolean over = job.isPresent() ? job.get().state() == JobState.ENDED : lost;
        if (!books.isNewest(ticket) || (ticket.stated && ticket.last)) {
            books.drop(ticket);
        } else if (over && !ticket.stated) {
            statements.add(entry.ticket(), entry.job(), AdminText.of(entry).text());
        }
    }

    /** Nothing is taken away before every ticket of the ledger was heard of. */
    private List<Step> strays(View view) {
        Set<String> features = new HashSet<>();
        for (Tracked ticket : books.all()) {
            if (!ticket.heard.any() && ticket.entry.stage() != Entry.Stage.GONE) {
                return List.of();
            }
            features.add(LocalSlurm.feature(ticket.entry.ticket()));
        }
        return Ending.strays(view.nodes(), features, node -> rests.isOver(node, view.now.elapsedMs()));
    }
}
