package org.cloister.luks.volume;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * Runs one call in its own thread. The thread, and with it the kernel's keyring of the thread, has ended when
 * {@link #run} returns.
 */
final class CallThread {
    private CallThread() {}

    @FunctionalInterface
    interface Step {
        void run() throws VolumeException;
    }

    static void run(String name, Step step) throws VolumeException {
        FutureTask<@Nullable Void> task = new FutureTask<>(() -> {
            step.run();
            return null;
        });
        Thread thread = new Thread(task, name);
        thread.start();
        boolean interrupted = joinWhateverComes(thread);
        try {
            task.get();
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException("a thread that has ended has its result", e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Converts any failure of the call to an exception, so that an incomplete call never counts as complete. */
    private static VolumeException failure(@Nullable Throwable cause) {
        if (cause instanceof VolumeException failure) {
            return failure;
        }
        if (cause instanceof RuntimeException fault) {
            throw fault;
        }
        if (cause instanceof Error fault) {
            throw fault;
        }
        throw new IllegalStateException("a step fails with what it declares", cause);
    }

    /** Waits even if interrupted, because the call cannot be aborted. */
    private static boolean joinWhateverComes(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
