package org.cloister.host.libvirt;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls into a library that may not come back, each with a limit of time. A call that is late keeps its thread until it
 * returns, however long; when all threads are kept so, nothing is asked any more.
 */
final class BoundedCalls implements AutoCloseable {
    /** Each holds one request in libvirtd, which by default takes five of a client. */
    private static final int MAX = 5;

    private static final Duration IDLE = Duration.ofSeconds(10);

    private final Duration limit;
    private final ThreadPoolExecutor threads;

    BoundedCalls(Duration limit) {
        this.limit = limit;
        this.threads = new ThreadPoolExecutor(
                0, MAX, IDLE.toMillis(), TimeUnit.MILLISECONDS, new SynchronousQueue<>(), work -> {
                    Thread thread = new Thread(work, "libvirt-call");
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** What it throws comes as the cause. */
    interface Call<T> {
        T run() throws Exception;
    }

    <T> T within(String what, Call<T> call) throws ExecutionException, HypervisorUnavailable {
        try {
            Future<T> answer = threads.submit(call::run);
            return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            throw unavailable(what, threads.isShutdown() ? "closed" : MAX + " earlier calls have not come back", e);
        } catch (TimeoutException e) {
            throw unavailable(what, "no answer in " + limit.toMillis() + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable(what, "interrupted", e);
        }
    }

    static HypervisorUnavailable unavailable(String what, String why, Throwable cause) {
        HypervisorUnavailable unavailable =
                new HypervisorUnavailable("libvirt: " + what + ": " + why + "; look at libvirtd on this host");
        unavailable.initCause(cause);
        return unavailable;
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
