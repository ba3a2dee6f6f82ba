package org.cloister.vm.controller.tickets;

import java.util.Locale;

/** Phases of a worker VM, in this order; their durations are in the job's AdminComment and in metrics. */
public enum WorkerPhase {
    /** Time from the ticket's request to the site's nodes. */
    QUEUE,
    BOOT,
    EVIDENCE,
    KEYS,
    TUNNEL,
    /** Time from the tunnel to a node that Slurm reports idle. */
    REGISTRATION,
    /** Time from the job's end until nothing remains. */
    TEARDOWN;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
