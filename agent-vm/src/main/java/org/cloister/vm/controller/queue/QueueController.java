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
 * Turns the Local Slurm's queue into tickets and the nodes that come into running jobs. What it must know after a crash is in
 * its ledger; one that was killed is started again and goes on.
 *
 * <p>A ticket lasts as long as its job's time limit was when it was asked for. A limit that is raised while the job waits means
 * another ticket. One that is raised while it runs (Slurm lets administrators alone do that) stays as Slurm has it, but
 * the nodes end with their ticket, and the job's status says so.
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
     * @param workers is started by {@link #start} and by nobody else
     * @param ledger stays the caller's to close, after this
     * @param bell a file; made if it is not there, and watched
     * @param door whether workers reach slurmctld
     * @param broken hears, once, of what should not happen; nothing is done any more then, and the process is to end
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

    /** @throws IOException if the bell's file cannot be made or watched */
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

    /** @return false if there is to be none any more */
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

    /** No thread of ours dies in silence. */
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

    /** Ends the look at the queue; what runs goes on running. */
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

    /** A call of Slurm may take long: what it does it does without us. */
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
