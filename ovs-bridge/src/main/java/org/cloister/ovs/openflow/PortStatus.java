package org.cloister.ovs.openflow;

/** What the switch tells by itself when a port comes, changes or goes (OpenFlow 1.4, 7.4.3). */
public record PortStatus(String device, int number, boolean gone) {}
