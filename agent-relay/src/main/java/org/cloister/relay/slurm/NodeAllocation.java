package org.cloister.relay.slurm;

/**
 * What a job has of a node.
 *
 * @param node Slurm's name of it
 * @param memoryMib 0 where the site's Slurm does not divide memory
 */
public record NodeAllocation(String node, int cpus, int memoryMib) {}
