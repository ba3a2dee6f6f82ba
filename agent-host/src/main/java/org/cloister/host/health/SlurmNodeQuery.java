package org.cloister.host.health;

import java.io.IOException;

/** Queries the state of this node in the Global Slurm. */
public interface SlurmNodeQuery {
    /**
     * Reads the state.
     *
     * @throws org.cloister.slurm.SlurmUnavailableException if Slurm did not answer, so that the state is unknown
     */
    SlurmNodeState readState() throws IOException;
}
