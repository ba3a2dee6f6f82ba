package org.cloister.vm.controller.queue;

import java.util.Optional;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/** A node as {@link SimulatedSlurm} has it. */
final class FakeSlurmNode {
    /** The real Slurm dies of a removal 0.1 s after the end of a set's job on the node, and has not after 4 s. */
    static final long DEADLY_MS = 4_000;

    final String feature;
    boolean up = true;
    boolean drained;
    Optional<FakeSlurmJob> job = Optional.empty();
    /** When a set's job last ended on it. */
    long setEndedMs = -DEADLY_MS;

    FakeSlurmNode(String feature) {
        this.feature = feature;
    }

    LocalSlurmNode.State state() {
        boolean isOut = !up || drained;
        if (job.isPresent()) {
            return isOut ? LocalSlurmNode.State.DRAINING : LocalSlurmNode.State.BUSY;
        }
        return isOut ? LocalSlurmNode.State.UNAVAILABLE : LocalSlurmNode.State.IDLE;
    }

    FakeSlurmNode copy() {
        FakeSlurmNode copy = new FakeSlurmNode(feature);
        copy.up = up;
        copy.drained = drained;
        copy.job = job;
        copy.setEndedMs = setEndedMs;
        return copy;
    }
}
