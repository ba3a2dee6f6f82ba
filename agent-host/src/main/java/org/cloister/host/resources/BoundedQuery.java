package org.cloister.host.resources;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.host.reconcile.SourceAnswer;

/**
 * Queries that may hang, such as on a file system whose device is gone. Each has a time limit, and no further query
 * starts until a late one has returned. Not thread-safe.
 */
final class BoundedQuery<T> {
    private static final long IDLE_MS = 1000;

    private final Duration limit;
    private final ThreadPoolExecutor thread;
    private Future<?> earlier = CompletableFuture.completedFuture(true);

    BoundedQuery(String name, Duration limit) {
        this.limit = limit;
        this.thread =
                new ThreadPoolExecutor(1, 1, IDLE_MS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), work -> {
                    Thread thread = new Thread(work, "query-" + name);
                    thread.setDaemon(true);
                    return thread;
                });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Query to run; an exception makes the answer unknown. */
    interface Question<T> {
        Set<T> all() throws IOException;
    }

    SourceAnswer<T> ask(Question<T> question) {
        if (!earlier.isDone()) {
            return new SourceAnswer.Unknown<>("no answer yet to an earlier question");
        }
        Future<Set<T>> answer = thread.submit(question::all);
        earlier = answer;
        try {
            return new SourceAnswer.Known<>(answer.get(limit.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return new SourceAnswer.Unknown<>("no answer in " + limit.toMillis() + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new SourceAnswer.Unknown<>("interrupted");
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            return new SourceAnswer.Unknown<>(String.valueOf(cause == null ? e.getMessage() : cause.getMessage()));
        }
    }
}
