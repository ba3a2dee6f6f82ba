package org.cloister.ovs;

/** What is behind a port. */
public enum PortRole {
    WORKER,
    CONTROLLER,
    /** Speaks for the destinations of its egress, to its peers. */
    GATEWAY
}
