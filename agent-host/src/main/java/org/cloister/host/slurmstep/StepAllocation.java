package org.cloister.host.slurmstep;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.host.domain.CpuSet;

/**
 * What Slurm gave to a step on this host.
 *
 * @param cpus empty if Slurm does not constrain them (ConstrainCores)
 * @param node the one NUMA node that the step's memory may come from; empty if there are several, or none is said
 * @param memoryBytes empty if Slurm does not constrain it (ConstrainRAMSpace)
 */
public record StepAllocation(Optional<CpuSet> cpus, OptionalInt node, OptionalLong memoryBytes) {}
