package org.cloister.relay.fairness;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the tasks of a {@link FairQueue} on its threads. Thread-safe. */
public final class FairExecutor<K> implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FairExecutor.class);
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(60);

    private final FairQueue<K, Runnable> queue;
    private final boolean finishing;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean closed;

    /**
     * Starts the daemon threads.
     *
     * @param threads number of threads
     * @param finishing whether a task is finished when it returns; otherwise its submitter calls {@link #finish}
     */
    public FairExecutor(String name, int threads, FairQueue<K, Runnable> queue, boolean finishing) {
        this.queue = queue;
        this.finishing = finishing;
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(this::run, name + "-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /**
     * Submits a task.
     *
     * @return false if the key's lane or the queue is full, or the executor is closed
     */
    public boolean submit(K key, long cost, Runnable task) {
        lock.lock();
        try {
            boolean accepted = !closed && queue.offer(key, cost, task, System.nanoTime());
            changed.signal();
            return accepted;
        } finally {
            lock.unlock();
        }
    }

    /** Records that a task of the key has finished. */
    public void finish(K key) {
        lock.lock();
        try {
            queue.finish(key);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Charges the key, as {@link FairQueue#charge} does. */
    public void charge(K key, long cost) {
        lock.lock();
        try {
            queue.charge(key, cost, System.nanoTime());
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of waiting tasks. */
    public int waiting() {
        lock.lock();
        try {
            return queue.size();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        for (Optional<FairQueue.Dequeued<K, Runnable>> next = next(); next.isPresent(); next = next()) {
            try {
                next.get().what().run();
            } catch (RuntimeException e) {
                LOG.error("a task failed", e);
            } finally {
                if (finishing) {
                    finish(next.get().key());
                }
            }
        }
    }

    /**
     * Waits for the next task.
     *
     * @return empty when the executor is closed
     */
    private Optional<FairQueue.Dequeued<K, Runnable>> next() {
        lock.lock();
        try {
            while (!closed) {
                long now = System.nanoTime();
                Optional<FairQueue.Dequeued<K, Runnable>> next = queue.poll(now);
                if (next.isPresent()) {
                    return next;
                }
                changed.awaitNanos(queue.waitNs(now).orElse(IDLE_NS));
            }
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Stops the threads. A running task finishes; waiting tasks are dropped. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
