package org.cloister.host.health;

import java.io.IOException;

/** This node, as Global Slurm has it. */
public interface NodeView {
    /** @throws org.cloister.slurm.SlurmUnavailable if Slurm gave no answer, which says nothing */
    NodeState look() throws IOException;
}
