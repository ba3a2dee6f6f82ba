package org.cloister.relay.tickets;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.cloister.relay.fairness.FairExecutor;
import org.cloister.relay.fairness.FairQueue;
import org.cloister.relay.fairness.LaneLimits;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.slurm.JobSubmission;
import org.cloister.relay.slurm.NodeAllocation;
import org.cloister.slurm.SlurmUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls Slurm on its own threads, a few calls at a time, and polls the state of its jobs. */
final class GlobalSlurmClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GlobalSlurmClient.class);
    private static final int AT_A_TIME = 5;
    /** Concurrent calls of one project: a call of another project need not wait for any of them. */
    private static final int OF_ONE = AT_A_TIME - 1;
    /** Maximum number of waiting calls: a few for each open ticket. */
    private static final int WAITING = 1 << 20;
    /** Pause that merges poll requests in quick succession into one. */
    private static final Duration MERGE_PAUSE = Duration.ofMillis(100);

    /**
     * Snapshot of Slurm's jobs.
     *
     * @param queriedNs time of the query; {@link System#nanoTime}
     * @param accountedFor tickets that had no job in the snapshot and for which accounting answered
     */
    record JobSnapshot(long queriedNs, List<GlobalJob> jobs, Set<String> accountedFor, List<GlobalJob> accounted) {
        /**
         * Returns Slurm's answer about one ticket.
         *
         * @param own the ticket's jobs among {@link #jobs}
         */
        TicketReconciler.SlurmAnswer about(String ticket, List<GlobalJob> own) {
            Optional<List<GlobalJob>> ended = accountedFor.contains(ticket)
                    ? Optional.of(accounted.stream()
                            .filter(job -> job.ticket().equals(ticket))
                            .toList())
                    : Optional.empty();
            return new TicketReconciler.SlurmAnswer(own, ended);
        }
    }

    /** Result of a call; exactly one of both is present. */
    record CallResult<T>(Optional<T> value, Optional<Exception> failure) {}

    private final GlobalSlurm slurm;
    private final Duration period;
    private final FairExecutor<String> calls;
    private final Supplier<Set<String>> open;
    private final Semaphore soon = new Semaphore(0);
    private volatile long answeredNs = System.nanoTime();
    /** Why no ticket can be submitted; empty once sbatch was seen to know all options. */
    private volatile Optional<String> problem = Optional.of("sbatch has not been checked yet");

    private volatile boolean closed;

    /** @param open returns the ids of open tickets; while there are none, Slurm is not polled */
    GlobalSlurmClient(GlobalSlurm slurm, Duration period, Supplier<Set<String>> open) {
        this.slurm = slurm;
        this.period = period;
        this.open = open;
        LaneLimits each = LaneLimits.unpaced(WAITING, OF_ONE);
        this.calls = new FairExecutor<>("slurm-call", AT_A_TIME, new FairQueue<>(WAITING, 1, project -> each), true);
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    GlobalPartitions partitions() {
        return slurm.partitions();
    }

    /**
     * Starts the thread that polls Slurm.
     *
     * @param listener receives each snapshot on the polling thread
     */
    void startPolling(Consumer<JobSnapshot> listener) {
        daemon(() -> run(listener), "slurm-watch").start();
    }

    private void run(Consumer<JobSnapshot> listener) {
        while (!closed) {
            try {
                if (soon.tryAcquire(period.toMillis(), TimeUnit.MILLISECONDS)) {
                    Thread.sleep(MERGE_PAUSE.toMillis());
                    soon.drainPermits();
                }
                checkOptions();
                Set<String> tickets = open.get();
                if (tickets.isEmpty()) {
                    answeredNs = System.nanoTime();
                } else {
                    listener.accept(poll(tickets));
                }
            } catch (InterruptedException e) {
                return;
            } catch (SlurmUnavailableException e) {
                LOG.warn("the Global Slurm does not answer: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("a poll of the Global Slurm failed with an internal error", e);
            }
        }
    }

    /** Checks again with each poll until sbatch knows all options: an administrator may replace it meanwhile. */
    private void checkOptions() {
        if (problem.isEmpty()) {
            return;
        }
        try {
            slurm.requireOptions();
            problem = Optional.empty();
        } catch (SlurmUnavailableException e) {
            Optional<String> now = Optional.of(String.valueOf(e.getMessage()));
            if (!now.equals(problem)) {
                LOG.error("not ready for tickets: {}", e.getMessage());
            }
            problem = now;
        }
    }

    /** Returns why no ticket can be submitted to this Slurm; empty if none is known. */
    Optional<String> problem() {
        return problem;
    }

    private JobSnapshot poll(Set<String> tickets) throws SlurmUnavailableException {
        long now = System.nanoTime();
        List<GlobalJob> jobs = slurm.jobs();
        answeredNs = now;
        Set<String> missing = new HashSet<>(tickets);
        jobs.forEach(job -> missing.remove(job.ticket()));
        if (missing.isEmpty()) {
            return new JobSnapshot(now, jobs, Set.of(), List.of());
        }
        try {
            return new JobSnapshot(now, jobs, missing, slurm.accounted(missing));
        } catch (SlurmUnavailableException e) {
            // Without accounting it is unknown whether these tickets ended.
            LOG.warn("Slurm's accounting does not answer: {}", e.getMessage());
            return new JobSnapshot(now, jobs, Set.of(), List.of());
        }
    }

    void submit(String project, JobSubmission what, Consumer<CallResult<Long>> then) {
        call(project, () -> slurm.submit(what), then);
    }

    void shares(String project, long job, Consumer<CallResult<List<NodeAllocation>>> then) {
        call(project, () -> slurm.shares(job), then);
    }

    /**
     * Cancels a job.
     *
     * @param failed runs if Slurm did not accept the cancellation; a later poll sees that the job still exists
     */
    void cancel(String project, long job, Runnable failed) {
        call(
                project,
                () -> {
                    slurm.cancel(job);
                    return job;
                },
                answer -> {
                    if (answer.failure().isPresent()) {
                        String why = answer.failure().get().getMessage();
                        LOG.warn("scancel failed and is retried job={} reason=\"{}\"", job, why);
                        failed.run();
                    } else {
                        pollSoon();
                    }
                });
    }

    private <T> void call(String project, Callable<T> what, Consumer<CallResult<T>> then) {
        boolean accepted = calls.submit(project, 1, () -> {
            CallResult<T> answer;
            try {
                answer = new CallResult<>(Optional.of(what.call()), Optional.empty());
            } catch (Exception e) {
                answer = new CallResult<>(Optional.empty(), Optional.of(e));
            }
            then.accept(answer);
        });
        if (!accepted && !closed) {
            SlurmUnavailableException full =
                    new SlurmUnavailableException(WAITING + " calls of Slurm are waiting already");
            then.accept(new CallResult<>(Optional.empty(), Optional.of(full)));
        }
    }

    void pollSoon() {
        soon.release();
    }

    /** Returns the seconds since Slurm last answered a poll. */
    int secondsSinceAnswer() {
        return (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - answeredNs);
    }

    /** Stops polling. Running calls continue, but their results are not used. */
    @Override
    public void close() {
        closed = true;
        calls.close();
        pollSoon();
    }
}
