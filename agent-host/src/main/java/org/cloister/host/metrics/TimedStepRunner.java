package org.cloister.host.metrics;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmStepRunner;

/** Runs another runner's steps, and records each as done or failed. */
public final class TimedStepRunner implements VmStepRunner {
    private final VmStepRunner runner;
    private final HostMetrics metrics;
    private final BiConsumer<VmStartStep, Duration> passed;

    /** @param passed additionally receives each step that was done */
    public TimedStepRunner(VmStepRunner runner, HostMetrics metrics, BiConsumer<VmStartStep, Duration> passed) {
        this.runner = runner;
        this.metrics = metrics;
        this.passed = passed;
    }

    @Override
    public boolean isFree(VmStartStep step) throws IOException {
        try {
            boolean free = runner.isFree(step);
            if (!free) {
                metrics.recordStepFailure(step);
            }
            return free;
        } catch (IOException e) {
            metrics.recordStepFailure(step);
            throw e;
        }
    }

    @Override
    public void run(VmStartStep step) throws IOException {
        long startNs = System.nanoTime();
        try {
            runner.run(step);
        } catch (IOException e) {
            metrics.recordStepFailure(step);
            throw e;
        }
        Duration took = Duration.ofNanos(System.nanoTime() - startNs);
        metrics.recordStep(step, took);
        passed.accept(step, took);
    }
}
