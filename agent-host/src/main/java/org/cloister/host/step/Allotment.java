package org.cloister.host.step;

import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;

/**
 * What Slurm gave to a step on this host.
 *
 * @param cpus numbers of logical CPUs, ascending; empty if Slurm does not constrain them (ConstrainCores)
 * @param nodes NUMA nodes, likewise
 * @param memoryBytes none if Slurm does not constrain it (ConstrainRAMSpace)
 */
public record Allotment(List<Integer> cpus, List<Integer> nodes, OptionalLong memoryBytes) {
    public Allotment {
        cpus = List.copyOf(cpus);
        nodes = List.copyOf(nodes);
    }

    static Allotment of(SortedSet<Integer> cpus, SortedSet<Integer> nodes, OptionalLong memoryBytes) {
        return new Allotment(List.copyOf(cpus), List.copyOf(nodes), memoryBytes);
    }
}
