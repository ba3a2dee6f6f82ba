package org.cloister.ovs;

/**
 * Limit of what a port may send into the bridge; the excess is dropped.
 *
 * @param burstKilobits how much may be sent at once
 */
public record PortRate(int kilobitsPerSecond, int burstKilobits) {
    public PortRate {
        if (kilobitsPerSecond < 1 || burstKilobits < 1) {
            throw new IllegalArgumentException("rate: want at least 1 kbit/s and 1 kbit, have " + kilobitsPerSecond
                    + " kbit/s and " + burstKilobits + " kbit");
        }
    }
}
