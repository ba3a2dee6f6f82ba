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
    private static final int CALLS_AT_A_TIME = 4;
    private static final Duration CLOSING = Duration.ofSeconds(5);

    private final WorkerAllocator workers;
    private final Path bellFile;
    private final Consumer<RuntimeException> broken;
    private final AdminCommentWriter statements;
    private final SchedulingPass round;
    private final ExecutorService calls = Executors.newFixedThreadPool(CALLS_AT_A_TIME, task -> daemon(task, "slurm"));
    private final Queue<WorkerEvent> events = new ConcurrentLinkedQueue<>();
    private final Thread queue = daemon(this::runPasses, "queue");
    private final Thread writer = daemon(this::writeStatements, "statements");
    private final AtomicBoolean isBroken = new AtomicBoolean();
    /** Guarded by itself, as is {@code closed}. */
    private final PollSchedule beat = new PollSchedule(System.nanoTime());

    private boolean closed;
    private @Nullable QueueNotifier bell;

    /**
     * @param workers started by {@link #start} only
     * @param ledger closed by the caller, after this controller
     * @param bell notify file, created if absent, and watched
     * @param door whether workers reach slurmctld
     * @param broken called once after an unexpected failure; the controller has stopped working, and the process must
     *     end
     */
    public QueueController(
            QueueSettings settings,
            LocalSlurm slurm,
            WorkerAllocator workers,
            QueueJournal ledger,
            JobStatusStore statuses,
            QueueMetrics timings,
            InstantSource clock,
            Path bell,
            BooleanSupplier door,
            Consumer<RuntimeException> broken) {
        this.workers = workers;
        this.bellFile = bell;
        this.broken = broken;
        this.statements = new AdminCommentWriter(slurm);
        this.round = new SchedulingPass(
                new SchedulingPass.Environment(
                        settings,
                        slurm,
                        workers,
                        ledger,
                        statuses,
                        timings,
                        clock,
                        QueueController::elapsedMs,
                        new SecureRandom(),
                        door),
                statements,
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
        bell = QueueNotifier.watch(bellFile, this::ring);
        workers.start(this::onWorkerEvent);
        round.resume();
        queue.start();
        writer.start();
    }

    private void ring() {
        synchronized (beat) {
            beat.onNotification(System.nanoTime());
            beat.notifyAll();
        }
    }

    private void onWorkerEvent(WorkerEvent event) {
        events.add(event);
        synchronized (beat) {
            beat.onWorkerEvent();
            beat.notifyAll();
        }
    }

    private void runPasses() {
        guarded(() -> {
            boolean silent = false;
            while (awaitLook()) {
                boolean close = false;
                for (WorkerEvent event = events.poll(); event != null; event = events.poll()) {
                    round.onWorkerEvent(event);
                }
                try {
                    close = round.run();
                    silent = false;
                } catch (SlurmUnavailableException e) {
                    if (!silent) {
                        LOG.warn("the Local Slurm does not answer: {}", e.getMessage());
                    }
                    silent = true;
                }
                synchronized (beat) {
                    beat.onPollEnd(System.nanoTime(), round.pollNs(), close);
                }
            }
        });
    }

    /**
     * Waits until the next poll is due.
     *
     * @return false if no more polls are to follow
     */
    private boolean awaitLook() throws InterruptedException {
        synchronized (beat) {
            while (!closed) {
                long now = System.nanoTime();
                long left = beat.nextNs() - now;
                if (left <= 0) {
                    beat.onPollStart(now);
                    return true;
                }
                TimeUnit.NANOSECONDS.timedWait(beat, left);
            }
            return false;
        }
    }

    private void writeStatements() {
        guarded(() -> {
            while (!isClosed()) {
                statements.awaitDue(elapsedMs());
                statements.write(elapsedMs());
            }
        });
    }

    private boolean isClosed() {
        synchronized (beat) {
            return closed;
        }
    }

    private interface Task {
        void run() throws InterruptedException;
    }

    /** Runs a thread's task and reports its failure, so that no thread ends unnoticed. */
    private void guarded(Task task) {
        try {
            task.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("the queue's controller is broken", e);
            synchronized (beat) {
                closed = true;
                beat.notifyAll();
            }
            if (isBroken.compareAndSet(false, true)) {
                broken.accept(e);
            }
        }
    }

    /** Stops the scheduling passes; running jobs continue. */
    @Override
    public void close() {
        synchronized (beat) {
            closed = true;
            beat.notifyAll();
        }
        try {
            if (bell != null) {
                bell.close();
            }
        } catch (IOException e) {
            LOG.warn("the bell's watch is not closed: {}", e.getMessage());
        }
        writer.interrupt();
        end(queue);
        end(writer);
        calls.shutdownNow();
    }

    /** Waits for a thread. A call of Slurm may take long: its effect does not depend on this process. */
    private static void end(Thread thread) {
        try {
            thread.join(CLOSING.toMillis());
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(CLOSING.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
