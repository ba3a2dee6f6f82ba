package org.cloister.vm.slurm;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a job asks of its nodes, as it stands in the queue; users may change it while the job waits.
 *
 * @param leastNodes at least 1
 * @param mostNodes as {@code leastNodes} if the job said no range
 * @param tasks in all
 * @param tasksPerNode empty if the job did not say
 * @param memoryMib of each node, or of each CPU if {@code memoryOfCpu}; 0 is all that a node has
 * @param scratchMib that {@code --tmp} asks for
 * @param limit empty if it has none
 */
public record Demand(
        int leastNodes,
        int mostNodes,
        int tasks,
        int cpusPerTask,
        OptionalInt tasksPerNode,
        long memoryMib,
        boolean memoryOfCpu,
        long scratchMib,
        boolean exclusive,
        Optional<Duration> limit) {}
