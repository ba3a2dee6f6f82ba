package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.BooleanSupplier;
import org.cloister.vm.system.daemon.UnitControl;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts slurmd, again and again for a time: slurmd fetches its configuration once and ends when nobody answers, and
 * the filter before slurmctld may be down meanwhile. Workers wait for it. A slurmd that does not start while the filter
 * runs has another fault.
 *
 * @param filterRuns whether slurmctld's port takes connections now
 * @param limit time after which a failed start is final
 * @param pause between two starts
 */
record SlurmdStart(
        UnitControl services, BooleanSupplier filterRuns, InstantSource clock, Duration limit, Duration pause) {
    private static final Logger LOG = LoggerFactory.getLogger(SlurmdStart.class);

    /** Returns when slurmd has its configuration. */
    void start(String settings) throws IOException {
        Instant end = clock.instant().plus(limit);
        while (true) {
            boolean before = filterRuns.getAsBoolean();
            try {
                services.start(LocalNodeSetup.SLURMD, settings);
                return;
            } catch (IOException e) {
                if ((before && filterRuns.getAsBoolean()) || clock.instant().isAfter(end)) {
                    throw e;
                }
                LOG.warn(
                        "slurmd did not start, since the filter before slurmctld did not run, and is started again: {}",
                        e.getMessage());
                sleep(e);
            }
        }
    }

    private void sleep(IOException failure) throws IOException {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure;
        }
    }
}
