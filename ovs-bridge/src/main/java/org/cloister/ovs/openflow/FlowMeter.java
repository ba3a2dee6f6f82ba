package org.cloister.ovs.openflow;

/**
 * Drops what is above a rate.
 *
 * @param id from 1
 * @param burst in kilobits
 */
public record FlowMeter(int id, int kilobitsPerSecond, int burst) {}
