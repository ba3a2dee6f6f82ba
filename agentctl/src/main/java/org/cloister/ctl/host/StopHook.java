package org.cloister.ctl.host;

import java.util.concurrent.CountDownLatch;

/**
 * SIGTERM and SIGINT, passed on: the process goes on until it would end by itself, with its own exit status. A JVM that was
 * told to end would end by the signal otherwise, and Slurm would not hear how the VM did.
 */
final class StopHook implements AutoCloseable {
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread hook;
    /** That of who is ended by SIGTERM, unless another is known. */
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

    /** The status with which the process ends if it was told to. */
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
            // It runs, and ends the process.
            over.countDown();
        }
    }
}
