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
    private static final long UNHEARD_MS = 200;

    /** Interval while a deadline has passed and its VM is still being built. */
    private static final long OVERDUE_MS = 100;

    private static final long FIRST_RETRY_MS = 500;
    private static final long LAST_RETRY_MS = 30_000;
    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    private final ReconcilePass round;
    private final FirstFullPassAction told;
    private final Duration atLatest;
    private final InstantSource clock;
    private final Semaphore bell = new Semaphore(0);
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
     * @param told {@code BridgePorts#adoptFoundPorts}
     * @param atLatest longest interval between two passes
     */
    public ReconcileLoop(ReconcilePass round, FirstFullPassAction told, Duration atLatest, InstantSource clock) {
        this.round = round;
        this.told = told;
        this.atLatest = atLatest;
        this.clock = clock;
        this.thread = new Thread(this::run, "rounds");
        this.thread.setDaemon(true);
    }

    public void start(Listener hears) {
        listener = hears;
        thread.start();
    }

    /** Requests a pass. It starts soon and observes everything that existed before the call. */
    public void wake() {
        if (bell.availablePermits() == 0) {
            bell.release();
        }
    }

    /**
     * Handles an event, for {@link org.cloister.host.libvirt.Hypervisor#setListener}. While the connection was lost no
     * changes were reported, so its return wakes the loop.
     */
    public void onHypervisorEvent(HypervisorEvent event) {
        if (event instanceof HypervisorEvent.DomainEnded ended && ended.died()) {
            round.onDomainDied(ended.uuid());
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
                bell.drainPermits();
                Outcome outcome = once();
                long wait = waitMs(outcome);
                if (bell.tryAcquire(wait, TimeUnit.MILLISECONDS) && !closed) {
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("reconcile loop interrupted; no further pass runs");
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a pass. A fault in it does not stop the loop, since VMs must be stopped all the same. */
    private Outcome once() {
        Outcome outcome;
        long beganNs = System.nanoTime();
        try {
            outcome = told(round.run());
        } catch (RuntimeException e) {
            outcome = fault(e);
        }
        last = outcome;
        try {
            listener.onPass(outcome, Duration.ofNanos(System.nanoTime() - beganNs));
        } catch (RuntimeException e) {
            outcome = fault(e);
            last = outcome;
        }
        log(outcome);
        return outcome;
    }

    private Outcome fault(RuntimeException e) {
        LOG.error("the reconcile pass failed with an internal error", e);
        return Outcome.failed("internal error of agent-host: " + e, clock.millis());
    }

    /**
     * Logs the outcome. A lasting problem is logged once; right after a start, a source that has not answered is not
     * one yet.
     */
    private void log(Outcome outcome) {
        outcome.done().forEach(action -> LOG.info("reconciled: {}", action));
        for (String trouble : outcome.problems()) {
            if (!logged.contains(trouble) && outcome.neverAnswered().isEmpty()) {
                LOG.warn("reconcile pass: problem: {}", trouble);
            } else if (!logged.contains(trouble)) {
                LOG.info("reconcile pass: waiting: {}", trouble);
            }
        }
        logged = outcome.problems();
    }

    private Outcome told(Outcome outcome) {
        if (!outcome.neverAnswered().isEmpty()) {
            return outcome;
        }
        try {
            told.run();
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
            due = UNHEARD_MS;
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
        bell.release();
        try {
            thread.join(END_LIMIT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
