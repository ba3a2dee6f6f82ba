package org.cloister.host.health;

import java.io.IOException;

/** What has this node drained and resumed, which Slurm grants to root and SlurmUser alone. */
public interface SlurmNodeCommands {
    /**
     * Nothing is done to a node that somebody took out meanwhile.
     *
     * @throws IOException if it was not done, or it is not known whether it was
     */
    void drain(DrainReason reason) throws IOException;

    /** Nothing is done to a node that is not drained for exactly this reason any more. Otherwise as {@link #drain}. */
    void resume(DrainReason reason) throws IOException;
}
