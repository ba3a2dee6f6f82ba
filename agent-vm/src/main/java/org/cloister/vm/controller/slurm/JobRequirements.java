package org.cloister.vm.controller.slurm;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Requirements of a job on its nodes, as in the queue now; users may change them while the job is pending.
 *
 * @param minNodes at least 1
 * @param maxNodes equals {@code minNodes} if the job requested no range
 * @param tasks in total
 * @param tasksPerNode empty if the job did not request it
 * @param memoryMib of each node, or of each CPU if {@code memoryPerCpu}; 0 is all memory of a node
 * @param scratchMib requested by {@code --tmp}
 * @param timeLimit empty if the job has none
 */
public record JobRequirements(
        int minNodes,
        int maxNodes,
        int tasks,
        int cpusPerTask,
        OptionalInt tasksPerNode,
        long memoryMib,
        boolean memoryPerCpu,
        long scratchMib,
        boolean exclusive,
        Optional<Duration> timeLimit) {}
