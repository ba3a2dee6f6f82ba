package org.cloister.host.domain;

import java.util.List;
import java.util.OptionalInt;

/**
 * Placement of a VM's CPUs on CPUs of the host.
 *
 * @param count number of the guest's CPUs
 * @param cpus the host's CPUs in the step's allocation
 * @param node NUMA node that all memory must come from; set if all the CPUs belong to it
 */
public record CpuPlacement(int count, CpuSet cpus, OptionalInt node) {
    /** More CPUs need an interrupt remapping device, which none of our guests has. */
    public static final int MAX_COUNT = 255;

    private static final int MAX_NODE = 1023;
    /** Each queue costs the guest an interrupt and the host memory; no disk or tap is faster with more. */
    private static final int MAX_QUEUES = 8;

    /** @throws IllegalArgumentException if a value is out of its range */
    public CpuPlacement {
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("vcpus: want 1 to " + MAX_COUNT + ", have " + count);
        }
        node.ifPresent(number -> {
            if (number < 0 || number > MAX_NODE) {
                throw new IllegalArgumentException("NUMA node: want 0 to " + MAX_NODE + ", have " + number);
            }
        });
    }

    /** Returns the number of queues of a virtio disk or network card. */
    public int queues() {
        return Math.min(count, MAX_QUEUES);
    }

    /**
     * Returns the host CPUs of one guest CPU: one CPU where there are as many as the guest has, otherwise any of them.
     */
    public CpuSet pin(int vcpu) {
        return count == cpus.numbers().size()
                ? new CpuSet(List.of(cpus.numbers().get(vcpu)))
                : cpus;
    }
}
