package org.cloister.ctl.host;

import java.util.concurrent.CountDownLatch;

/**
 * Passes SIGTERM and SIGINT on. The process continues until it would exit by itself, and exits with its own status.
 * Otherwise the JVM would end with the signal, and Slurm would not learn how the VM ended.
 */
final class StopHook implements AutoCloseable {
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread hook;
    /** Status after SIGTERM, unless another one was set. */
    private volatile int status = 128 + 15;

    private StopHook(Runnable stop) {
        this.hook = new Thread(
                () -> {
                    stop.run();
                    awaitOver();
                    Runtime.getRuntime().halt(status);
                },
                "stop");
    }

    static StopHook install(Runnable stop) {
        StopHook set = new StopHook(stop);
        Runtime.getRuntime().addShutdownHook(set.hook);
        return set;
    }

    /** Sets the status with which the process exits after a signal. */
    void setExitStatus(int of) {
        status = of;
    }

    private void awaitOver() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The hook runs and ends the process.
            over.countDown();
        }
    }
}
