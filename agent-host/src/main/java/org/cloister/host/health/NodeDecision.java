package org.cloister.host.health;

/** Decision about this host's Slurm node. */
public sealed interface NodeDecision {
    /** No change for now. */
    record NoChange() implements NodeDecision {}

    record Drain(DrainReason reason) implements NodeDecision {}

    /**
     * Resume.
     *
     * @param reason for which the node must still be drained
     */
    record Resume(DrainReason reason) implements NodeDecision {}

    /**
     * Replace the reason of a past drain.
     *
     * @param reason that the node, which is in service, must still have
     */
    record ReplaceReason(DrainReason reason) implements NodeDecision {}
}
