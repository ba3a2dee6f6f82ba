package org.cloister.ovs.openflow;

/** A flow as a switch tells it, and how many packets matched since it was made. */
public record FlowStats(FlowEntry flow, long packets) {}
