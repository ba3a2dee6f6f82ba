package org.cloister.host.resources;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs tasks of which some take minutes, such as overwriting a large file. The caller waits for a while, and calls
 * again until the task is done. At most one task runs under each name.
 */
final class BackgroundTasks {
    private final Duration timeout;
    private final Map<String, Future<Boolean>> underWay = new HashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread daemon = new Thread(work, "long-work");
        daemon.setDaemon(true);
        return daemon;
    });

    BackgroundTasks(Duration timeout) {
        this.timeout = timeout;
    }

    interface Task {
        void run() throws IOException;
    }

    /**
     * Runs a task.
     *
     * @throws IOException if it failed or is not done yet; a further call starts it again, or waits for it again
     */
    synchronized void run(String name, Task work) throws IOException {
        Future<Boolean> future = underWay.computeIfAbsent(
                name,
                key -> threads.submit(() -> {
                    work.run();
                    return true;
                }));
        try {
            future.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            underWay.remove(name);
        } catch (TimeoutException e) {
            throw new IOException(name + " has not finished yet and continues in the background", e);
        } catch (ExecutionException e) {
            underWay.remove(name);
            Throwable cause = e.getCause();
            throw new IOException(cause == null ? name : cause.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(name + ": interrupted", e);
        }
    }
}
