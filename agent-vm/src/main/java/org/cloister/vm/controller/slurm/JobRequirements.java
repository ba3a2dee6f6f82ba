package org.cloister.vm.controller.slurm;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a job asks of its nodes, as it stands in the queue; users may change it while the job waits.
 *
 * @param minNodes at least 1
 * @param maxNodes as {@code leastNodes} if the job said no range
 * @param tasks in all
 * @param tasksPerNode empty if the job did not say
 * @param memoryMib of each node, or of each CPU if {@code memoryOfCpu}; 0 is all that a node has
 * @param scratchMib that {@code --tmp} asks for
 * @param timeLimit empty if it has none
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
