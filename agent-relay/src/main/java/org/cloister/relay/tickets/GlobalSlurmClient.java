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

/** Calls to Slurm on threads of their own, a few at a time, and the question how its jobs are, again and again. */
final class GlobalSlurmClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GlobalSlurmClient.class);
    private static final int AT_A_TIME = 5;
    /** Of one project: another's call need not wait for any of them. */
    private static final int OF_ONE = AT_A_TIME - 1;
    /** A few for each open ticket. */
    private static final int WAITING = 1 << 20;
    /** Questions that follow each other closely are one. */
    private static final Duration BREATH = Duration.ofMillis(100);

    /**
     * What Slurm said.
     *
     * @param askedNs when it was asked; {@link System#nanoTime}
     * @param accountedFor tickets that had no job in it, and that accounting was asked about and answered
     */
    record JobSnapshot(long askedNs, List<GlobalJob> jobs, Set<String> accountedFor, List<GlobalJob> accounted) {}

    /** One of both. */
    record CallResult<T>(Optional<T> value, Optional<Exception> failure) {}

    private final GlobalSlurm slurm;
    private final Duration period;
    private final FairExecutor<String> calls;
    private final Supplier<Set<String>> open;
    private final Semaphore soon = new Semaphore(0);
    private volatile long goodNs = System.nanoTime();
    private volatile boolean closed;

    /** @param open ids of tickets that have not ended; while there is none, Slurm is not asked */
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

    /** @param hearer of each answer, on a thread of the watch's own */
    void startPolling(Consumer<JobSnapshot> hearer) {
        daemon(() -> run(hearer), "slurm-watch").start();
    }

    private void run(Consumer<JobSnapshot> hearer) {
        while (!closed) {
            try {
                if (soon.tryAcquire(period.toMillis(), TimeUnit.MILLISECONDS)) {
                    Thread.sleep(BREATH.toMillis());
                    soon.drainPermits();
                }
                Set<String> asked = open.get();
                if (asked.isEmpty()) {
                    goodNs = System.nanoTime();
                } else {
                    hearer.accept(look(asked));
                }
            } catch (InterruptedException e) {
                return;
            } catch (SlurmUnavailableException e) {
                LOG.warn("Global Slurm does not answer: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("a look at Global Slurm failed", e);
            }
        }
    }

    private JobSnapshot look(Set<String> asked) throws SlurmUnavailableException {
        long now = System.nanoTime();
        List<GlobalJob> jobs = slurm.jobs();
        goodNs = now;
        Set<String> missing = new HashSet<>(asked);
        jobs.forEach(job -> missing.remove(job.ticket()));
        if (missing.isEmpty()) {
            return new JobSnapshot(now, jobs, Set.of(), List.of());
        }
        try {
            return new JobSnapshot(now, jobs, missing, slurm.accounted(missing));
        } catch (SlurmUnavailableException e) {
            // What accounting would say is unknown, and so whether they ended.
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

    /** @param failed runs if Slurm did not take it; the next look in its turn sees the job still there */
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
                        LOG.warn("not cancelled job={} reason=\"{}\"", job, why);
                        failed.run();
                    } else {
                        pollSoon();
                    }
                });
    }

    private <T> void call(String project, Callable<T> what, Consumer<CallResult<T>> then) {
        boolean taken = calls.submit(project, 1, () -> {
            CallResult<T> answer;
            try {
                answer = new CallResult<>(Optional.of(what.call()), Optional.empty());
            } catch (Exception e) {
                answer = new CallResult<>(Optional.empty(), Optional.of(e));
            }
            then.accept(answer);
        });
        if (!taken && !closed) {
            SlurmUnavailableException full =
                    new SlurmUnavailableException("the relay has " + WAITING + " calls that wait");
            then.accept(new CallResult<>(Optional.empty(), Optional.of(full)));
        }
    }

    void pollSoon() {
        soon.release();
    }

    /** Seconds since Slurm last answered how its jobs are. */
    int secondsSinceAnswer() {
        return (int) TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - goodNs);
    }

    /** What was begun goes on; nobody hears of it. */
    @Override
    public void close() {
        closed = true;
        calls.close();
        pollSoon();
    }
}
