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
import org.cloister.host.resources.BridgePorts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that holds ledger and host against each other: at once, when the hypervisor tells of a change, when somebody
 * rings, when something is due, and at the latest after a minute. What goes wrong is tried again, less and less often.
 */
public final class ReconcileLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReconcileLoop.class);
    /** Between two rounds, so that changes which come together are seen together. */
    private static final long PAUSE_MS = 50;
    /** While a source has not answered at all, which it does as soon as its daemon is up. */
    private static final long UNHEARD_MS = 200;

    /** While something is due and its VM is still being made. */
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

    /** What is done after each round that has heard every source. */
    public interface FirstFullPassAction {
        /** Does nothing if it was done before. What it throws is a trouble of the round. */
        void run() throws IOException;
    }

    /** Hears of each round's end, on the rounds' thread; it returns soon. */
    @FunctionalInterface
    public interface Listener {
        void onPass(Outcome outcome, Duration took);
    }

    /**
     * @param told {@link BridgePorts#adoptFoundPorts}
     * @param atLatest from one round to the next
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

    /** There is something to see. Soon after, a round begins that sees what was there before the call. */
    public void wake() {
        if (bell.availablePermits() == 0) {
            bell.release();
        }
    }

    /** For {@link org.cloister.host.libvirt.Hypervisor#setListener}. Between Lost and Found nothing was told. */
    public void onHypervisorEvent(HypervisorEvent event) {
        if (event instanceof HypervisorEvent.DomainEnded ended && ended.died()) {
            round.onDomainDied(ended.uuid());
        }
        if (!(event instanceof HypervisorEvent.ConnectionLost)) {
            wake();
        }
    }

    /** Empty before the first has ended. */
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
            LOG.warn("rounds: interrupted, and none follows");
            Thread.currentThread().interrupt();
        }
    }

    /** A fault of ours in one round is no reason for none to follow: VMs are to be ended all the same. */
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
        LOG.error("round: a fault of agent-host", e);
        return Outcome.failed("a fault of agent-host: " + e, clock.millis());
    }

    /** A trouble that stays is said once, and right after a start none is one yet. */
    private void log(Outcome outcome) {
        outcome.done().forEach(action -> LOG.info("round: done {}", action));
        for (String trouble : outcome.problems()) {
            if (!logged.contains(trouble) && outcome.neverAnswered().isEmpty()) {
                LOG.warn("round: trouble: {}", trouble);
            } else if (!logged.contains(trouble)) {
                LOG.info("round: waits: {}", trouble);
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
            // What was due and could not be done is tried again with what went wrong.
            if (left > 0 || outcome.isClean()) {
                due = Math.min(due, Math.max(left, OVERDUE_MS));
            }
        }
        return due;
    }

    /** Returns when no round is under way, or the limit has passed. VMs go on. */
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
