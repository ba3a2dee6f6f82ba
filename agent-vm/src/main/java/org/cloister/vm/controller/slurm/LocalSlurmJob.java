package org.cloister.vm.controller.slurm;

import java.util.List;
import java.util.Optional;

/**
 * A job of the Local Slurm, of what its owner cannot forge. Its name, comment and paths are not here.
 *
 * @param arrayJobId of an array's task, the array's job number; 0 otherwise
 * @param throttle of an array's task, how many may run at once ({@code %2}); 0 if all may
 * @param hetJobId of a heterogeneous job's component, the first component's number; 0 otherwise
 * @param restarts how often it was requeued
 * @param uid of its owner
 * @param reason Slurm's word for why it waits, such as {@code Dependency}; bounded, printable
 * @param features as Slurm holds them: {@link LocalSlurm#UNPLACED}, a ticket's, or others
 * @param adminComment its AdminComment, which our plugin writes at submission and we later; empty if none
 * @param nodes that it has or had
 */
public record LocalSlurmJob(
        LocalSlurmJobId id,
        long arrayJobId,
        int throttle,
        long hetJobId,
        int restarts,
        int uid,
        LocalSlurmJobState state,
        String reason,
        long priority,
        String features,
        Optional<String> adminComment,
        JobRequirements requirements,
        List<String> nodes) {
    public LocalSlurmJob {
        nodes = List.copyOf(nodes);
    }
}
