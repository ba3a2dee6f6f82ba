package org.cloister.daemon;

import java.util.concurrent.CountDownLatch;

/**
 * Waits for SIGTERM or SIGINT. The JVM halts when its hooks return, so the hook waits until everything else is closed.
 */
public final class StopSignal implements AutoCloseable {
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Installs the hook; must be the first resource of main, so that it is closed last. */
    public StopSignal() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::onShutdown, "stop"));
    }

    private void onShutdown() {
        requested.countDown();
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public void await() throws InterruptedException {
        requested.await();
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
