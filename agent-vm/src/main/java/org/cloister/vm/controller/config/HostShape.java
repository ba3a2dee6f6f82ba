package org.cloister.vm.controller.config;

/**
 * The most that one compute host of the site provides for one worker VM. The site states it; its Slurm is not queried.
 *
 * @param hosts number of hosts of this shape, at least 1
 * @param memoryMib for Slurm in the VM, without any reserve
 * @param scratchMib for jobs on the worker's disk, without the overhead of its volume
 */
public record HostShape(int hosts, int cpus, long memoryMib, long scratchMib) {
    public HostShape {
        if (hosts < 1 || cpus < 1 || memoryMib < 1 || scratchMib < 0) {
            throw new IllegalArgumentException("shape: want hosts, cpus and memory of at least 1, have " + hosts
                    + " hosts, " + cpus + " cpus, " + memoryMib + " MiB, " + scratchMib + " MiB scratch");
        }
    }
}
