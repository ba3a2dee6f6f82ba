package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the final AdminComments of jobs into Slurm. They may wait for accounting for days, so nothing waits for them.
 * Thread-safe; one thread at a time writes. Times are {@link ClockReading#elapsedMs}.
 */
final class AdminCommentWriter {
    private static final Logger LOG = LoggerFactory.getLogger(AdminCommentWriter.class);
    /** Accounting may learn of a job some time after slurmctld forgot it; after that many refusals it never will. */
    private static final int MAX_REFUSALS = 12;

    private static final long CHECK_INTERVAL_MS = 1_000;

    private final LocalSlurm slurm;
    private final Map<String, Due> due = new LinkedHashMap<>();
    private final Set<String> done = new TreeSet<>();

    private record Due(String ticket, LocalSlurmJobId job, String text, int failures, int refusals, long notBeforeMs) {}

    AdminCommentWriter(LocalSlurm slurm) {
        this.slurm = slurm;
    }

    /** Adds a comment; one that is already pending is kept as it is. */
    synchronized void add(String ticket, LocalSlurmJobId job, String text) {
        if (!done.contains(ticket)) {
            due.putIfAbsent(ticket, new Due(ticket, job, text, 0, 0, Long.MIN_VALUE));
            notifyAll();
        }
    }

    /** Returns the tickets whose comment is written or was given up; each once. */
    synchronized List<String> drainDone() {
        List<String> all = List.copyOf(done);
        done.clear();
        return all;
    }

    /** Waits until a comment is due, or for a moment; may return earlier. */
    @SuppressWarnings("WaitNotInLoop") // after a spurious wake-up the caller checks and waits again
    synchronized void awaitDue(long nowMs) throws InterruptedException {
        if (due(nowMs).isEmpty()) {
            wait(CHECK_INTERVAL_MS);
        }
    }

    private synchronized List<Due> due(long nowMs) {
        return new ArrayList<>(
                due.values().stream().filter(each -> each.notBeforeMs <= nowMs).toList());
    }

    /** Tries each comment that is due, once. */
    void write(long nowMs) {
        for (Due each : due(nowMs)) {
            try {
                slurm.setAdminComment(each.job, each.text);
                finish(each);
            } catch (SlurmRefusedException e) {
                if (each.refusals + 1 >= MAX_REFUSALS) {
                    LOG.warn(
                            "admin comment given up job={} ticket={} reason=\"{}\"",
                            each.job,
                            each.ticket,
                            e.getMessage());
                    finish(each);
                } else {
                    retryLater(each, 1, nowMs);
                }
            } catch (SlurmUnavailableException e) {
                LOG.warn("admin comment delayed job={} ticket={} reason=\"{}\"", each.job, each.ticket, e.getMessage());
                retryLater(each, 0, nowMs);
            }
        }
    }

    private synchronized void finish(Due each) {
        due.remove(each.ticket);
        done.add(each.ticket);
    }

    private synchronized void retryLater(Due each, int refused, long nowMs) {
        int failures = each.failures + 1;
        due.put(
                each.ticket,
                new Due(
                        each.ticket,
                        each.job,
                        each.text,
                        failures,
                        each.refusals + refused,
                        nowMs + QueueRetryDelay.delayMs(failures)));
    }
}
