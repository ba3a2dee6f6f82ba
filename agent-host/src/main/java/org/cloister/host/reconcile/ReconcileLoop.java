package org.cloister.host.reconcile;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.cloister.host.libvirt.HypervisorEvent;
import org.cloister.host.reconcile.ReconcilePass.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thread that runs reconcile passes: at the start, when the hypervisor reports a change, when it is woken, at each
 * deadline, and at the latest a minute after the previous pass. It retries failures at growing intervals.
 */
public final class ReconcileLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReconcileLoop.class);
    /** Pause between two passes, so that changes which occur together are observed together. */
    private static final long PAUSE_MS = 50;
    /** Interval while a source has never answered, which it does as soon as its daemon runs. */
    private static final long UNANSWERED_RETRY_MS = 200;

    /** Interval while a deadline has passed and its VM is still being built. */
    private static final long OVERDUE_MS = 100;

    private static final long FIRST_RETRY_MS = 500;
    private static final long LAST_RETRY_MS = 30_000;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private final ReconcilePass pass;
    private final FirstFullPassAction runAfterPass;
    private final Duration atLatest;
    private final InstantSource clock;
    private final Semaphore wakeUp = new Semaphore(0);
    private final Thread thread;
    private volatile Listener listener = (outcome, took) -> {};
    private volatile @Nullable Outcome last;
    private volatile boolean closed;
    private long retryMs = FIRST_RETRY_MS;
    private List<String> logged = List.of();

    /** Action after each pass in which every source has answered. */
    public interface FirstFullPassAction {
        /** Runs the action; no effect after its first success. An exception becomes a problem of the pass. */
        void run() throws IOException;
    }

    /** Receives the outcome of each pass, on the loop's thread; it returns soon. */
    @FunctionalInterface
    public interface Listener {
        void onPass(Outcome outcome, Duration took);
    }

    /**
     * @param runAfterPass {@code BridgePorts#adoptFoundPorts}
     * @param atLatest longest interval between two passes
     */
    public ReconcileLoop(ReconcilePass pass, FirstFullPassAction runAfterPass, Duration atLatest, InstantSource clock) {
        this.pass = pass;
        this.runAfterPass = runAfterPass;
        this.atLatest = atLatest;
        this.clock = clock;
        this.thread = new Thread(this::run, "reconcile");
        this.thread.setDaemon(true);
    }

    public void start(Listener newListener) {
        listener = newListener;
        thread.start();
    }

    /** Requests a pass. It starts soon and observes everything that existed before the call. */
    public void wake() {
        if (wakeUp.availablePermits() == 0) {
            wakeUp.release();
        }
    }

    /**
     * Handles an event, for {@link org.cloister.host.libvirt.Hypervisor#setListener}. While the connection was lost no
     * changes were reported, so its return wakes the loop.
     */
    public void onHypervisorEvent(HypervisorEvent event) {
        if (event instanceof HypervisorEvent.DomainEnded ended && ended.died()) {
            pass.onDomainDied(ended.uuid());
        }
        if (!(event instanceof HypervisorEvent.ConnectionLost)) {
            wake();
        }
    }

    /** Returns the last outcome; empty before the first pass has ended. */
    public Optional<Outcome> last() {
        return Optional.ofNullable(last);
    }

    private void run() {
        try {
            while (!closed) {
                wakeUp.drainPermits();
                Outcome outcome = runPass();
                long wait = waitMs(outcome);
                if (wakeUp.tryAcquire(wait, TimeUnit.MILLISECONDS) && !closed) {
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("reconcile loop interrupted; no further pass runs");
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a pass. A fault in it does not stop the loop, since VMs must be stopped all the same. */
    private Outcome runPass() {
        Outcome outcome;
        long startNs = System.nanoTime();
        try {
            outcome = runAfterPass(pass.run());
        } catch (RuntimeException e) {
            outcome = internalError(e);
        }
        last = outcome;
        try {
            listener.onPass(outcome, Duration.ofNanos(System.nanoTime() - startNs));
        } catch (RuntimeException e) {
            outcome = internalError(e);
            last = outcome;
        }
        log(outcome);
        return outcome;
    }

    private Outcome internalError(RuntimeException e) {
        LOG.error("the reconcile pass failed with an internal error", e);
        return Outcome.failed("internal error of agent-host: " + e, clock.millis());
    }

    /**
     * Logs the outcome. A lasting problem is logged once; right after a start, a source that has not answered is not
     * one yet.
     */
    private void log(Outcome outcome) {
        outcome.done().forEach(action -> LOG.info("reconciled: {}", action));
        for (String problem : outcome.problems()) {
            if (!logged.contains(problem) && outcome.neverAnswered().isEmpty()) {
                LOG.warn("reconcile pass: problem: {}", problem);
            } else if (!logged.contains(problem)) {
                LOG.info("reconcile pass: waiting: {}", problem);
            }
        }
        logged = outcome.problems();
    }

    private Outcome runAfterPass(Outcome outcome) {
        if (!outcome.neverAnswered().isEmpty()) {
            return outcome;
        }
        try {
            runAfterPass.run();
            return outcome;
        } catch (IOException e) {
            return outcome.withProblem(String.valueOf(e.getMessage()));
        }
    }

    private long waitMs(Outcome outcome) {
        if (outcome.isClean()) {
            retryMs = FIRST_RETRY_MS;
        }
        long due = atLatest.toMillis();
        if (!outcome.neverAnswered().isEmpty()) {
            due = UNANSWERED_RETRY_MS;
        } else if (!outcome.isClean()) {
            due = retryMs;
            retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
        }
        if (outcome.nextMs().isPresent()) {
            long left = outcome.nextMs().getAsLong() - clock.millis();
            // An action that was due and failed is retried with the other failures.
            if (left > 0 || outcome.isClean()) {
                due = Math.min(due, Math.max(left, OVERDUE_MS));
            }
        }
        return due;
    }

    /** Stops the loop. Returns when no pass is running, or after a time limit. VMs continue to run. */
    @Override
    public void close() {
        closed = true;
        wakeUp.release();
        try {
            thread.join(STOP_TIMEOUT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
