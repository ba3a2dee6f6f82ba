package org.cloister.ovs.openflow;

/**
 * A meter that drops what exceeds a rate.
 *
 * @param id from 1
 * @param burst in kilobits
 */
public record FlowMeter(int id, int kilobitsPerSecond, int burst) {}
