package org.cloister.host.domain;

import java.util.OptionalInt;

/**
 * Where the guest's memory lies on the host. It is never shared with other guests, and never in a core dump.
 *
 * @param hugepageKib the size of its pages where they are huge; a memory cgroup does not count these
 * @param locked whether none of it is ever swapped; else the host's preflight sees to encrypted swap or none
 */
public record MemoryBacking(OptionalInt hugepageKib, boolean locked) {
    public static final MemoryBacking PLAIN = new MemoryBacking(OptionalInt.empty(), false);

    private static final int TWO_MIB = 2 << 10;
    private static final int ONE_GIB = 1 << 20;

    /** @throws IllegalArgumentException if no processor of ours has such pages */
    public MemoryBacking {
        hugepageKib.ifPresent(kib -> {
            if (kib != TWO_MIB && kib != ONE_GIB) {
                throw new IllegalArgumentException(
                        "hugepages: want " + TWO_MIB + " or " + ONE_GIB + " KiB, have " + kib);
            }
        });
    }
}
