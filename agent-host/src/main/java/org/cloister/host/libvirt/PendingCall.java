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
 * One of {@link BoundedCalls}: it begins or is dropped, never both, and counts as late from when its caller gave up
 * until it returns.
 */
final class PendingCall<T> implements Runnable {
    private enum State {
        WAITS,
        DROPPED,
        RUNS,
        LATE,
        ENDED
    }

    private final FutureTask<T> task;
    private final AtomicInteger late;
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);
    private final CountDownLatch started = new CountDownLatch(1);

    /** @param late number of calls that nobody waits for any more and that have not returned */
    PendingCall(BoundedCalls.Call<T> call, AtomicInteger late) {
        this.task = new FutureTask<>(call::run);
        this.late = late;
    }

    @Override
    public void run() {
        if (!state.compareAndSet(State.WAITS, State.RUNS)) {
            return;
        }
        started.countDown();
        task.run();
        if (state.getAndSet(State.ENDED) == State.LATE) {
            late.decrementAndGet();
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
        late.incrementAndGet();
        if (!state.compareAndSet(State.RUNS, State.LATE)) {
            late.decrementAndGet();
        }
    }
}
