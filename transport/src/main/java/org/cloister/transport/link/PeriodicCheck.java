package org.cloister.transport.link;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Looks once a second, on an event loop, whether what was believed still is. A look that fails is followed by the next one
 * all the same: revocation must not end with a defect.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each look makes the next one
public final class PeriodicCheck implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final EventExecutor loop;
    private final Runnable look;
    private final Duration period;
    private volatile boolean closed;

    /** The first look comes after one period. */
    public PeriodicCheck(EventExecutor loop, Runnable look) {
        this(loop, look, PERIOD);
    }

    PeriodicCheck(EventExecutor loop, Runnable look, Duration period) {
        this.loop = loop;
        this.look = look;
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
                look.run();
            }
        } finally {
            later();
        }
    }

    /** A look that has begun ends. */
    @Override
    public void close() {
        closed = true;
    }
}
