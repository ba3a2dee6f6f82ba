package org.cloister.ovs;

/** Kind of machine behind a port. */
public enum PortRole {
    WORKER,
    CONTROLLER,
    /** Answers for the destinations of its egress, to its peers. */
    GATEWAY
}
