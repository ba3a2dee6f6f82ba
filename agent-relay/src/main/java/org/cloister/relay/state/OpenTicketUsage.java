package org.cloister.relay.state;

/**
 * What a project's tickets that have not ended ask for in all, to be held against its quota.
 *
 * @param nodes running VMs too: each node has one
 */
public record OpenTicketUsage(int tickets, long nodes, long cpus, long memoryMib) {}
