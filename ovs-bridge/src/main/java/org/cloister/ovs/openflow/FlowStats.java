package org.cloister.ovs.openflow;

/** A flow as a switch reports it, with the number of packets that matched since its creation. */
public record FlowStats(FlowEntry flow, long packets) {}
