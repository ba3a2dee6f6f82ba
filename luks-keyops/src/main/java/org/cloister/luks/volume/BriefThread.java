package org.cloister.luks.volume;

import org.jspecify.annotations.Nullable;

/** One call in a thread of its own, which has ended when {@link #run} returns, and with it the kernel's keyring of the thread. */
final class BriefThread extends Thread {
    private final Step step;
    private @Nullable VolumeException failure;
    private @Nullable RuntimeException fault;

    private BriefThread(String name, Step step) {
        super(name);
        this.step = step;
    }

    @FunctionalInterface
    interface Step {
        void run() throws VolumeException;
    }

    static void run(String name, Step step) throws VolumeException {
        BriefThread thread = new BriefThread(name, step);
        thread.start();
        thread.joinWhateverComes();
        if (thread.failure != null) {
            throw thread.failure;
        }
        if (thread.fault != null) {
            throw thread.fault;
        }
    }

    @Override
    public void run() {
        try {
            step.run();
        } catch (VolumeException e) {
            failure = e;
        } catch (RuntimeException e) {
            fault = e;
        }
    }

    private void joinWhateverComes() {
        boolean interrupted = false;
        while (true) {
            try {
                join();
                break;
            } catch (InterruptedException e) {
                interrupted = true; // the call cannot be given up half-way
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
