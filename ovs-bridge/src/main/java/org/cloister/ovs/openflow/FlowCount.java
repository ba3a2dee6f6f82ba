package org.cloister.ovs.openflow;

/** A flow as a switch tells it, and how many packets matched since it was made. */
public record FlowCount(Flow flow, long packets) {}
