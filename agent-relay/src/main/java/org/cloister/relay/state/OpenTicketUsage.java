package org.cloister.relay.state;

/**
 * Sum of the requests of a project's open tickets, to be compared with its quota.
 *
 * @param nodes number of nodes, which is also the number of running VMs: each node has one
 */
public record OpenTicketUsage(int tickets, long nodes, long cpus, long memoryMib) {}
