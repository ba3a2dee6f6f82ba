package org.cloister.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs actions in parallel; all have ended when the call returns. */
public final class ParallelActions {
    private ParallelActions() {}

    public static void run(ProgressLog.Action... actions) throws IOException {
        run(List.of(actions));
    }

    public static void run(List<ProgressLog.Action> actions) throws IOException {
        ExecutorService threads = Executors.newFixedThreadPool(Math.min(actions.size(), 4));
        try {
            List<Future<Boolean>> all = new ArrayList<>();
            for (ProgressLog.Action action : actions) {
                all.add(threads.submit(() -> {
                    action.run();
                    return true;
                }));
            }
            IOException failed = null;
            for (Future<Boolean> each : all) {
                try {
                    each.get();
                } catch (ExecutionException e) {
                    IOException next =
                            e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
                    if (failed == null) {
                        failed = next;
                    } else {
                        failed.addSuppressed(next);
                    }
                }
            }
            if (failed != null) {
                throw failed;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while starting", "start again", e);
        } finally {
            threads.shutdown();
        }
    }
}
