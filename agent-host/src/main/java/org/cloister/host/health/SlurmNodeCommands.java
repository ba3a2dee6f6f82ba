package org.cloister.host.health;

import java.io.IOException;

/** Drains and resumes this node, which Slurm permits to root and SlurmUser only. */
public interface SlurmNodeCommands {
    /**
     * Drains the node, unless someone else took it out of service meanwhile.
     *
     * @throws IOException if it was not drained, or it is not known whether it was
     */
    void drain(DrainReason reason) throws IOException;

    /** Resumes the node, unless it is no longer drained for exactly this reason. Otherwise as {@link #drain}. */
    void resume(DrainReason reason) throws IOException;
}
