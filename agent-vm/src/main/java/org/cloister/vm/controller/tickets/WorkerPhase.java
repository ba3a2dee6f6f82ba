package org.cloister.vm.controller.tickets;

import java.util.Locale;

/** What a worker VM goes through, in this order; their seconds stand in the job's AdminComment and in metrics. */
public enum WorkerPhase {
    /** From the ticket to the site's nodes. */
    QUEUE,
    BOOT,
    EVIDENCE,
    KEYS,
    TUNNEL,
    /** From the tunnel to a node that Slurm calls idle. */
    REGISTRATION,
    /** From the job's end to the last trace. */
    TEARDOWN;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
