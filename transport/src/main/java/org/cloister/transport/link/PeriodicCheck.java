package org.cloister.transport.link;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Runs a check once a second on an event loop, such as whether peers are still trusted. After a failed check the next
 * one still runs, because a defect must not stop revocation.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each check schedules the next one
public final class PeriodicCheck implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final EventExecutor loop;
    private final Runnable action;
    private final Duration period;
    private volatile boolean closed;

    /** Starts the checks; the first one runs after one period. */
    public PeriodicCheck(EventExecutor loop, Runnable action) {
        this(loop, action, PERIOD);
    }

    PeriodicCheck(EventExecutor loop, Runnable action, Duration period) {
        this.loop = loop;
        this.action = action;
        this.period = period;
        later();
    }

    private void later() {
        if (!closed && !loop.isShuttingDown()) {
            loop.schedule(this::now, period.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void now() {
        try {
            if (!closed) {
                action.run();
            }
        } finally {
            later();
        }
    }

    /** Stops the checks; a check that is running completes. */
    @Override
    public void close() {
        closed = true;
    }
}
