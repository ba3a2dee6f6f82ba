package org.cloister.host.slurmstep;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.host.domain.CpuSet;

/**
 * Resources that Slurm allocated to a step on this host.
 *
 * @param cpus empty if Slurm does not constrain them (ConstrainCores)
 * @param node NUMA node that the step's memory must come from; empty if there are several, or none is set
 * @param memoryBytes empty if Slurm does not constrain it (ConstrainRAMSpace)
 */
public record StepAllocation(Optional<CpuSet> cpus, OptionalInt node, OptionalLong memoryBytes) {}
