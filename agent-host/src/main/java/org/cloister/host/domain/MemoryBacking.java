package org.cloister.host.domain;

import java.util.OptionalInt;

/**
 * Backing of the guest's memory on the host. It is never shared with other guests, and never in a core dump.
 *
 * @param hugepageKib size of huge pages, if they are used; a memory cgroup does not count these
 * @param locked whether no part is ever swapped; if false, the host's preflight requires encrypted swap or none
 */
public record MemoryBacking(OptionalInt hugepageKib, boolean locked) {
    public static final MemoryBacking PLAIN = new MemoryBacking(OptionalInt.empty(), false);

    private static final int TWO_MIB = 2 << 10;
    private static final int ONE_GIB = 1 << 20;

    /** @throws IllegalArgumentException if no supported processor has pages of this size */
    public MemoryBacking {
        hugepageKib.ifPresent(kib -> {
            if (kib != TWO_MIB && kib != ONE_GIB) {
                throw new IllegalArgumentException(
                        "hugepages: want " + TWO_MIB + " or " + ONE_GIB + " KiB, have " + kib);
            }
        });
    }
}
