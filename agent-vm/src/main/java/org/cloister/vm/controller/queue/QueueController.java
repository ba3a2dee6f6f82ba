package org.cloister.vm.controller.queue;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.status.JobStatusStore;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests tickets for the jobs of the Local Slurm's queue, and starts the jobs on the nodes of their tickets.
 * Everything that it must know after a crash is in its journal; after a kill it is started again and continues.
 *
 * <p>A ticket lasts as long as its job's time limit was when it was requested. If the limit is raised while the job is
 * pending, another ticket is requested. If it is raised while the job runs (Slurm permits this to administrators only),
 * Slurm keeps the new limit, but the nodes end with their ticket, and the job's status reports that.
 */
public final class QueueController implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QueueController.class);
    private static final int CALL_THREADS = 4;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    private final WorkerAllocator workers;
    private final Path notifyFile;
    private final Consumer<RuntimeException> broken;
    private final AdminCommentWriter commentWriter;
    private final SchedulingPass pass;
    private final ExecutorService calls = Executors.newFixedThreadPool(CALL_THREADS, task -> daemon(task, "slurm"));
    private final Queue<WorkerEvent> events = new ConcurrentLinkedQueue<>();
    private final Thread passThread = daemon(this::runPasses, "queue");
    private final Thread commentThread = daemon(this::writeComments, "statements");
    private final AtomicBoolean isBroken = new AtomicBoolean();
    /** Guarded by itself, as is {@code closed}. */
    private final PollSchedule schedule = new PollSchedule(System.nanoTime());

    private boolean closed;
    private @Nullable QueueNotifier notifier;

    /**
     * @param workers started by {@link #start} only
     * @param journal closed by the caller, after this controller
     * @param notifyFile created if absent, and watched
     * @param slurmctldReachable whether workers reach slurmctld
     * @param broken called once after an unexpected failure; the controller has stopped working, and the process must
     *     end
     */
    public QueueController(
            QueueSettings settings,
            LocalSlurm slurm,
            WorkerAllocator workers,
            QueueJournal journal,
            JobStatusStore statuses,
            QueueMetrics metrics,
            InstantSource clock,
            Path notifyFile,
            BooleanSupplier slurmctldReachable,
            Consumer<RuntimeException> broken) {
        this.workers = workers;
        this.notifyFile = notifyFile;
        this.broken = broken;
        this.commentWriter = new AdminCommentWriter(slurm);
        this.pass = new SchedulingPass(
                new SchedulingPass.Environment(
                        settings,
                        slurm,
                        workers,
                        journal,
                        statuses,
                        metrics,
                        clock,
                        QueueController::elapsedMs,
                        new SecureRandom(),
                        slurmctldReachable),
                commentWriter,
                calls);
    }

    private static long elapsedMs() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** @throws IOException if the notify file cannot be created or watched */
    public void start() throws IOException {
        notifier = QueueNotifier.watch(notifyFile, this::onNotification);
        workers.start(this::onWorkerEvent);
        pass.resume();
        passThread.start();
        commentThread.start();
    }

    private void onNotification() {
        synchronized (schedule) {
            schedule.onNotification(System.nanoTime());
            schedule.notifyAll();
        }
    }

    private void onWorkerEvent(WorkerEvent event) {
        events.add(event);
        synchronized (schedule) {
            schedule.onWorkerEvent();
            schedule.notifyAll();
        }
    }

    private void runPasses() {
        runReportingFailure(() -> {
            boolean unavailable = false;
            while (awaitPoll()) {
                boolean changeExpected = false;
                for (WorkerEvent event = events.poll(); event != null; event = events.poll()) {
                    pass.onWorkerEvent(event);
                }
                try {
                    changeExpected = pass.run();
                    unavailable = false;
                } catch (SlurmUnavailableException e) {
                    if (!unavailable) {
                        LOG.warn("the Local Slurm does not answer: {}", e.getMessage());
                    }
                    unavailable = true;
                }
                synchronized (schedule) {
                    schedule.onPollEnd(System.nanoTime(), pass.pollNs(), changeExpected);
                }
            }
        });
    }

    /**
     * Waits until the next poll is due.
     *
     * @return false if no more polls are to follow
     */
    private boolean awaitPoll() throws InterruptedException {
        synchronized (schedule) {
            while (!closed) {
                long now = System.nanoTime();
                long remainingNs = schedule.nextNs() - now;
                if (remainingNs <= 0) {
                    schedule.onPollStart(now);
                    return true;
                }
                TimeUnit.NANOSECONDS.timedWait(schedule, remainingNs);
            }
            return false;
        }
    }

    private void writeComments() {
        runReportingFailure(() -> {
            while (!isClosed()) {
                commentWriter.awaitDue(elapsedMs());
                commentWriter.write(elapsedMs());
            }
        });
    }

    private boolean isClosed() {
        synchronized (schedule) {
            return closed;
        }
    }

    private interface Task {
        void run() throws InterruptedException;
    }

    /** Runs a thread's task and reports its failure, so that no thread ends unnoticed. */
    private void runReportingFailure(Task task) {
        try {
            task.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("the queue controller failed", e);
            synchronized (schedule) {
                closed = true;
                schedule.notifyAll();
            }
            if (isBroken.compareAndSet(false, true)) {
                broken.accept(e);
            }
        }
    }

    /** Stops the scheduling passes; running jobs continue. */
    @Override
    public void close() {
        synchronized (schedule) {
            closed = true;
            schedule.notifyAll();
        }
        try {
            if (notifier != null) {
                notifier.close();
            }
        } catch (IOException e) {
            LOG.warn("the watch of the notify file cannot be closed: {}", e.getMessage());
        }
        commentThread.interrupt();
        awaitEnd(passThread);
        awaitEnd(commentThread);
        calls.shutdownNow();
    }

    /** Waits for a thread. A call of Slurm may take long: its effect does not depend on this process. */
    private static void awaitEnd(Thread thread) {
        try {
            thread.join(CLOSE_LIMIT.toMillis());
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(CLOSE_LIMIT.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
