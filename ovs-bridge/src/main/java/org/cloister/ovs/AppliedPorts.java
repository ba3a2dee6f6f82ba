package org.cloister.ovs;

import java.util.Map;

/**
 * Result of a successful change: the bridge has the requested ports.
 *
 * @param numbers of the planned ports that have a device now
 */
public record AppliedPorts(Map<String, Integer> numbers) {
    public AppliedPorts {
        numbers = Map.copyOf(numbers);
    }
}
