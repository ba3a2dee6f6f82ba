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
 * Runs calls into a library that may hang, each with a time limit. A call that exceeds it keeps its thread until it
 * returns; while all threads are kept, every further call fails.
 */
final class BoundedCalls implements AutoCloseable {
    /** Maximum of threads. Each holds one request in libvirtd, which by default accepts five from a client. */
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

    /** Call to run; an exception that it throws becomes the cause of the ExecutionException. */
    interface Call<T> {
        T run() throws Exception;
    }

    <T> T within(String what, Call<T> call) throws ExecutionException, HypervisorUnavailable {
        try {
            Future<T> answer = threads.submit(call::run);
            return answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            throw unavailable(what, threads.isShutdown() ? "closed" : MAX + " earlier calls have not returned", e);
        } catch (TimeoutException e) {
            throw unavailable(what, "no answer in " + limit.toMillis() + " ms", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable(what, "interrupted", e);
        }
    }

    static HypervisorUnavailable unavailable(String what, String why, Throwable cause) {
        HypervisorUnavailable unavailable =
                new HypervisorUnavailable("libvirt: " + what + ": " + why + "; check libvirtd on this host");
        unavailable.initCause(cause);
        return unavailable;
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
