package org.cloister.lab.vm;

import java.io.IOException;
import java.util.Map;

/** A machine that becomes a node of a Slurm from nothing, as often as it is asked to; gone after each time. */
@FunctionalInterface
public interface NodeStart {
    /**
     * One start, in seconds since the guest's kernel began.
     *
     * @param idle when the node's own slurmctld said IDLE
     * @param phases when each phase before that was over, in their order
     */
    record Started(double idle, Map<String, Double> phases) {}

    Started start() throws IOException;
}
