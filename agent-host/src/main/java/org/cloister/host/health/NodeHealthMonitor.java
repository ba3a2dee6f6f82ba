package org.cloister.host.health;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.reconcile.ReconcilePass;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Thread that drains and resumes this node. It alone waits for Slurm; callers that report to it return at once. It runs
 * after each report, as each reconcile pass makes one, and retries while Slurm does not answer.
 */
public final class NodeHealthMonitor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeHealthMonitor.class);
    private static final Duration END_LIMIT = Duration.ofSeconds(2);

    /** Queries the state of this node in the Global Slurm. */
    public interface SlurmNodeQuery {
        /**
         * Reads the state.
         *
         * @throws org.cloister.slurm.SlurmUnavailableException if Slurm did not answer, so that the state is unknown
         */
        SlurmNodeState readState() throws IOException;
    }

    /** Drains and resumes this node, which Slurm permits to root and SlurmUser only. */
    public interface SlurmNodeCommands {
        /**
         * Drains the node, unless someone else took it out of service meanwhile.
         *
         * @throws IOException if it was not drained, or it is not known whether it was
         */
        void drain(DrainReason reason) throws IOException;

        /** Resumes the node, unless it is no longer drained for exactly this reason. Otherwise as {@link #drain}. */
        void resume(DrainReason reason) throws IOException;

        /**
         * Replaces the reason of a past drain of ours by one that is not ours, unless the node was taken out of service
         * meanwhile. Otherwise as {@link #drain}.
         */
        void replaceReason(DrainReason reason) throws IOException;
    }

    private final NodeHealth health;
    private final SlurmNodeQuery view;
    private final SlurmNodeCommands commands;
    private final Supplier<List<String>> wrong;
    private final InstantSource clock;
    private final Duration retry;
    private final Semaphore wakeUp = new Semaphore(1);
    private final Thread thread;
    private String logged = "";
    private volatile boolean closed;

    /**
     * @param wrong supplies why this host accepts no tickets now, for people; called on the monitor's thread
     * @param retry pause after a failed attempt
     */
    public NodeHealthMonitor(
            NodeHealth health,
            SlurmNodeQuery view,
            SlurmNodeCommands commands,
            Supplier<List<String>> wrong,
            InstantSource clock,
            Duration retry) {
        this.health = health;
        this.view = view;
        this.commands = commands;
        this.wrong = wrong;
        this.clock = clock;
        this.retry = retry;
        this.thread = new Thread(this::run, "node-health");
        this.thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Reports how a VM ended; any thread may call. */
    public void onVmEnded(VmRunResult how) {
        synchronized (health) {
            health.onVmEnded(how, clock.millis());
        }
        ring();
    }

    /** Reports a pass, as a listener of {@link org.cloister.host.reconcile.ReconcileLoop}. */
    public void onPass(ReconcilePass.Outcome outcome) {
        synchronized (health) {
            health.onPass(outcome, clock.millis());
        }
        ring();
    }

    private void ring() {
        if (wakeUp.availablePermits() == 0) {
            wakeUp.release();
        }
    }

    private void run() {
        try {
            boolean isDone = true;
            while (!closed) {
                if (isDone) {
                    wakeUp.acquire();
                } else if (!wakeUp.tryAcquire(retry.toMillis(), TimeUnit.MILLISECONDS)) {
                    LOG.debug("node: tried again");
                }
                wakeUp.drainPermits();
                isDone = closed || once();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Checks the node once and acts.
     *
     * @return false to retry soon
     */
    private boolean once() {
        try {
            synchronized (health) {
                if (!health.needsCheck(clock.millis())) {
                    return true;
                }
            }
            SlurmNodeState nodeState = view.readState();
            List<String> now = wrong.get();
            NodeDecision decision;
            synchronized (health) {
                decision = health.decide(nodeState, now, clock.millis());
            }
            carryOut(decision);
            logged = "";
            // After an action check once more, so that the new state is known as ours.
            return decision instanceof NodeDecision.NoChange;
        } catch (IOException e) {
            String why = String.valueOf(e.getMessage());
            if (!why.equals(logged)) {
                LOG.warn("the node's state in the Global Slurm cannot be updated and is retried: {}", why);
            }
            logged = why;
            return false;
        } catch (RuntimeException e) {
            LOG.error("the check of the node's health failed with an internal error", e);
            return false;
        }
    }

    private void carryOut(NodeDecision decision) throws IOException {
        if (decision instanceof NodeDecision.Drain drain) {
            commands.drain(drain.reason());
            synchronized (health) {
                health.onDrained();
            }
            LOG.warn("node: drained: {}", drain.reason());
        } else if (decision instanceof NodeDecision.Resume resume) {
            commands.resume(resume.reason());
            synchronized (health) {
                health.onResumed(clock.millis());
            }
            LOG.info("node: resumed, was drained: {}", resume.reason());
        } else if (decision instanceof NodeDecision.ReplaceReason replace) {
            commands.replaceReason(replace.reason());
            LOG.info("node: in service; Slurm had kept the reason of the last drain: {}", replace.reason());
        }
    }

    /** Stops the thread. The node's state does not change: it stays drained if it is. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join(END_LIMIT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
