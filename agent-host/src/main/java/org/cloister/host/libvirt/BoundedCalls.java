package org.cloister.host.libvirt;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs calls into a library that may hang, each with a time limit; what finds no free thread waits, and for no longer
 * than a limit of its own. A call that exceeds its limit keeps its thread until it returns; while all threads are kept
 * so, every further call fails at once.
 */
final class BoundedCalls implements AutoCloseable {
    /** Maximum of calls that wait: more than a host has VMs. */
    private static final int MAX_WAITING = 1024;

    private static final Duration IDLE = Duration.ofSeconds(10);

    private final int size;
    private final Duration limit;
    private final AtomicInteger abandoned = new AtomicInteger();
    private final ThreadPoolExecutor threads;

    /**
     * @param size maximum of threads, each of which holds one request in libvirtd
     * @param limit of the time until a call starts, and of a call that has no limit of its own
     */
    BoundedCalls(String name, int size, Duration limit) {
        this.size = size;
        this.limit = limit;
        this.threads = new ThreadPoolExecutor(
                size, size, IDLE.toMillis(), TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(MAX_WAITING), work -> {
                    Thread thread = new Thread(work, name);
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    /** Call to run; an exception that it throws becomes the cause of the ExecutionException. */
    interface Call<T> {
        T run() throws Exception;
    }

    <T> T within(String what, Call<T> call) throws ExecutionException, HypervisorUnavailable {
        return within(what, limit, call);
    }

    /** @param own limit of the call, from its start */
    <T> T within(String what, Duration own, Call<T> call) throws ExecutionException, HypervisorUnavailable {
        if (abandoned.get() >= size) {
            throw unavailable(what, size + " earlier calls have not returned", null);
        }
        PendingCall<T> pending = new PendingCall<>(call, abandoned);
        try {
            threads.execute(pending);
            if (!pending.awaitStart(limit) && pending.drop()) {
                threads.remove(pending);
                throw unavailable(what, "earlier calls took " + limit.toMillis() + " ms", null);
            }
            return pending.result(own);
        } catch (RejectedExecutionException e) {
            throw unavailable(what, threads.isShutdown() ? "closed" : MAX_WAITING + " calls wait", e);
        } catch (TimeoutException e) {
            pending.abandon();
            throw unavailable(what, "no answer in " + own.toMillis() + " ms", e);
        } catch (InterruptedException e) {
            pending.abandon();
            Thread.currentThread().interrupt();
            throw unavailable(what, "interrupted", e);
        }
    }

    static HypervisorUnavailable unavailable(String what, String why, @Nullable Throwable cause) {
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
