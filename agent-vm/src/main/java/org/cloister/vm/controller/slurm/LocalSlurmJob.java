package org.cloister.vm.controller.slurm;

import java.util.List;
import java.util.Optional;

/**
 * A job of the Local Slurm, limited to what its owner cannot forge: without its name, comment and paths.
 *
 * @param arrayJobId the array's job number, for a task of an array; 0 otherwise
 * @param throttle how many tasks may run at once ({@code %2}), for a task of an array; 0 if all may
 * @param hetJobId the first component's number, for a component of a heterogeneous job; 0 otherwise
 * @param restarts how often it was requeued
 * @param uid of its owner
 * @param reason Slurm's reason why it is pending, such as {@code Dependency}; bounded, printable
 * @param features in Slurm: {@link LocalSlurm#UNPLACED}, a ticket's, or others
 * @param adminComment its AdminComment, written by the submit plugin at submission and later by agent-vm; empty if
 *     absent
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
