package org.cloister.ovs.openflow;

/** Notification of the switch when a port is added, changed or removed (OpenFlow 1.4, section 7.4.3). */
public record PortStatus(String device, int number, boolean gone) {}
