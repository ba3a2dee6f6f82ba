package org.cloister.host.health;

import java.io.IOException;

/** This node, as Global Slurm has it. */
public interface SlurmNodeQuery {
    /** @throws org.cloister.slurm.SlurmUnavailableException if Slurm gave no answer, which says nothing */
    SlurmNodeState readState() throws IOException;
}
