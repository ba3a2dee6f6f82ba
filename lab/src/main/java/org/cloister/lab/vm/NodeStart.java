package org.cloister.lab.vm;

import java.io.IOException;
import java.util.Map;

/** Starts a machine that becomes a node of a Slurm from nothing, any number of times; it is removed after each. */
@FunctionalInterface
public interface NodeStart {
    /**
     * Times of one start, in seconds since the guest's kernel began.
     *
     * @param idle when the node's own slurmctld reported IDLE
     * @param phases when each phase before that ended, in their order
     */
    record Started(double idle, Map<String, Double> phases) {}

    Started start() throws IOException;
}
