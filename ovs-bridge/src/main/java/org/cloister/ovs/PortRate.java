package org.cloister.ovs;

/**
 * How much a port may send into the bridge; the rest is dropped.
 *
 * @param burstKilobits how much may come at once
 */
public record PortRate(int kilobitsPerSecond, int burstKilobits) {
    public PortRate {
        if (kilobitsPerSecond < 1 || burstKilobits < 1) {
            throw new IllegalArgumentException("rate: want at least 1 kbit/s and 1 kbit, have " + kilobitsPerSecond
                    + " kbit/s and " + burstKilobits + " kbit");
        }
    }
}
