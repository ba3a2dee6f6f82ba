package org.cloister.vm.controller.queue;

import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;

/** An action to be performed by Slurm. A failed action is decided again after the next poll. */
sealed interface SlurmAction {
    record AssignJob(LocalSlurmJobId job, String ticket, int nodes) implements SlurmAction {}

    record UnassignJob(LocalSlurmJobId job, JobRequirements requirements) implements SlurmAction {}

    record HoldJob(LocalSlurmJobId job) implements SlurmAction {}

    /** @param job that has started */
    record SaveState(LocalSlurmJob job) implements SlurmAction {}

    record DrainNode(String node, String why) implements SlurmAction {}

    record MarkNodeDown(String node, String why) implements SlurmAction {}

    record DeleteNode(String node) implements SlurmAction {}
}
