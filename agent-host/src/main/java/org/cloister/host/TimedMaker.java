package org.cloister.host;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.cloister.host.ledger.Maker;
import org.cloister.host.ledger.Step;

/** Another maker, whose steps are counted as they pass or fail. */
public final class TimedMaker implements Maker {
    private final Maker maker;
    private final HostMetrics metrics;
    private final BiConsumer<Step, Duration> passed;

    /** @param passed hears of each step that was done, besides */
    public TimedMaker(Maker maker, HostMetrics metrics, BiConsumer<Step, Duration> passed) {
        this.maker = maker;
        this.metrics = metrics;
        this.passed = passed;
    }

    @Override
    public boolean isFree(Step step) throws IOException {
        try {
            boolean free = maker.isFree(step);
            if (!free) {
                metrics.failed(step);
            }
            return free;
        } catch (IOException e) {
            metrics.failed(step);
            throw e;
        }
    }

    @Override
    public void make(Step step) throws IOException {
        long beganNs = System.nanoTime();
        try {
            maker.make(step);
        } catch (IOException e) {
            metrics.failed(step);
            throw e;
        }
        Duration took = Duration.ofNanos(System.nanoTime() - beganNs);
        metrics.passed(step, took);
        passed.accept(step, took);
    }
}
