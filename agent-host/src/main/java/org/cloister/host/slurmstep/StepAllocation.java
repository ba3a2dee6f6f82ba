package org.cloister.host.slurmstep;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.HostNumaNode;

/**
 * Resources that Slurm allocated to a step on this host.
 *
 * @param cpus empty if Slurm does not constrain them (ConstrainCores)
 * @param node NUMA node that the step's memory must come from; empty if there are several, or none is set
 * @param nodes NUMA nodes of the CPUs, if memory may come from several; empty if unknown
 * @param memoryBytes empty if Slurm does not constrain it (ConstrainRAMSpace)
 */
public record StepAllocation(
        Optional<CpuSet> cpus, OptionalInt node, List<HostNumaNode> nodes, OptionalLong memoryBytes) {
    public StepAllocation {
        nodes = List.copyOf(nodes);
    }
}
