package org.cloister.ovs;

import java.util.Map;

/**
 * The bridge is as asked.
 *
 * @param numbers of the planned ports that have a device now
 */
public record AppliedPorts(Map<String, Integer> numbers) {
    public AppliedPorts {
        numbers = Map.copyOf(numbers);
    }
}
