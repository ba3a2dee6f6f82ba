package org.cloister.vm.controller.daemons;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;

/**
 * Waits until a daemon that was started responds to its client program. A client that gets no answer and does not end
 * by itself is one attempt of several: slurmdbd accepts connections while it still creates the tables of a new drive.
 *
 * @param attemptLimit time for one run of a client
 * @param limit time for the daemon
 */
record DaemonResponse(ProcessRunner programs, Duration attemptLimit, Duration limit) {
    private static final long PAUSE_MS = 200;

    /**
     * Returns when a client's run has succeeded.
     *
     * @param expected text that the client's output must contain
     * @throws IOException if none has within the limit, with the last attempt's error
     */
    void await(String unit, String expected, String... client) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        String error;
        do {
            try {
                ProcessRunner.Output output = programs.run("", List.of(client), attemptLimit);
                if (output.exit() == 0 && output.out().contains(expected)) {
                    return;
                }
                error = output.errorSummary();
            } catch (ProcessRunner.TimedOut e) {
                error = e.getMessage();
            }
            pause(unit);
        } while (System.nanoTime() < deadline);
        throw new IOException(unit + ": no answer within " + limit.toSeconds() + " s: " + error);
    }

    private static void pause(String unit) throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(unit + ": interrupted", e);
        }
    }
}
