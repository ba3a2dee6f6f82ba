package org.cloister.host.libvirt;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One of {@link BoundedCalls}: it starts or is dropped, never both, and is abandoned when its caller gives up while it
 * runs.
 */
final class PendingCall<T> implements Runnable {
    private enum State {
        WAITS,
        DROPPED,
        RUNS,
        ABANDONED,
        ENDED
    }

    private final FutureTask<T> task;
    private final AtomicInteger abandoned;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);
    private final CountDownLatch started = new CountDownLatch(1);

    /** @param abandoned number of abandoned calls that have not returned */
    PendingCall(BoundedCalls.Call<T> call, AtomicInteger abandoned) {
        this.task = new FutureTask<>(call::run);
        this.abandoned = abandoned;
    }

    @Override
    public void run() {
        if (!state.compareAndSet(State.WAITS, State.RUNS)) {
            return;
        }
        started.countDown();
        task.run();
        if (state.getAndSet(State.ENDED) == State.ABANDONED) {
            abandoned.decrementAndGet();
        }
    }

    /** Returns whether it has started in that time. */
    boolean awaitStart(Duration limit) throws InterruptedException {
        return started.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns whether it had not started, and now never will. */
    boolean drop() {
        return state.compareAndSet(State.WAITS, State.DROPPED);
    }

    T result(Duration limit) throws ExecutionException, InterruptedException, TimeoutException {
        return task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Its caller waits no longer. */
    void abandon() {
        if (drop()) {
            return;
        }
        abandoned.incrementAndGet();
        if (!state.compareAndSet(State.RUNS, State.ABANDONED)) {
            abandoned.decrementAndGet();
        }
    }
}
