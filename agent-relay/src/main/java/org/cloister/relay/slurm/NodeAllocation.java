package org.cloister.relay.slurm;

/**
 * Resources that a job has on one node.
 *
 * @param node the node's name in Slurm
 * @param memoryMib memory in MiB; 0 where the site's Slurm does not allocate memory
 */
public record NodeAllocation(String node, int cpus, int memoryMib) {}
