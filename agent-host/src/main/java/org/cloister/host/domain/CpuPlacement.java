package org.cloister.host.domain;

import java.util.OptionalInt;

/**
 * A VM's CPUs, and the host's that they run on.
 *
 * @param count of the guest's
 * @param cpus of the step's allocation
 * @param node the one whose memory alone is used, if the CPUs all lie in it
 */
public record CpuPlacement(int count, CpuSet cpus, OptionalInt node) {
    /** More need an interrupt remapping device that no guest of ours has. */
    public static final int MAX_COUNT = 255;

    private static final int MAX_NODE = 1023;
    /** Each queue costs the guest an interrupt and the host memory; no disk or tap is quicker with more. */
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

    /** Of a virtio disk or network card. */
    public int queues() {
        return Math.min(count, MAX_QUEUES);
    }

    /** One CPU of the host for each of the guest's where there are as many; else any of them. */
    String pin(int vcpu) {
        return count == cpus.numbers().size() ? Integer.toString(cpus.numbers().get(vcpu)) : cpus.toString();
    }
}
