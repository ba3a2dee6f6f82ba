package org.cloister.vm.controller.config;

/**
 * What one compute host of the site gives to one worker VM at most. The site says it; nothing is asked of its Slurm.
 *
 * @param hosts how many there are of this shape, at least 1
 * @param memoryMib for Slurm in the VM, without any reserve
 * @param scratchMib for jobs on the worker's disk, without what its volume takes
 */
public record HostShape(int hosts, int cpus, long memoryMib, long scratchMib) {
    public HostShape {
        if (hosts < 1 || cpus < 1 || memoryMib < 1 || scratchMib < 0) {
            throw new IllegalArgumentException("shape: want hosts, cpus and memory of at least 1, have " + hosts
                    + " hosts, " + cpus + " cpus, " + memoryMib + " MiB, " + scratchMib + " MiB scratch");
        }
    }
}
