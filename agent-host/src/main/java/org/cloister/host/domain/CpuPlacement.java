package org.cloister.host.domain;

import java.util.List;
import java.util.OptionalInt;

/**
 * Placement of a VM's CPUs on CPUs of the host.
 *
 * @param count number of the guest's CPUs
 * @param cpus the host's CPUs in the step's allocation
 * @param node NUMA node that all memory must come from; set if the step may use the memory of no other
 * @param nodes NUMA nodes of the CPUs, whose memory is used first; with several the guest has a node for each of them.
 *     Empty if unknown, or if {@code node} is set
 */
public record CpuPlacement(int count, CpuSet cpus, OptionalInt node, List<HostNumaNode> nodes) {
    /** More CPUs need an interrupt remapping device, which none of our guests has. */
    public static final int MAX_COUNT = 255;

    /** Each queue costs the guest an interrupt and the host memory; no disk or tap is faster with more. */
    private static final int MAX_QUEUES = 8;

    /** @throws IllegalArgumentException if a value is out of its range, or two values contradict each other */
    public CpuPlacement {
        nodes = List.copyOf(nodes);
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("vcpus: want 1 to " + MAX_COUNT + ", have " + count);
        }
        node.ifPresent(number -> {
            if (number < 0 || number > HostNumaNode.MAX_NUMBER) {
                throw new IllegalArgumentException(
                        "NUMA node: want 0 to " + HostNumaNode.MAX_NUMBER + ", have " + number);
            }
        });
        if (!nodes.isEmpty()
                && (node.isPresent()
                        || count != cpus.numbers().size()
                        || !cpus.numbers()
                                .equals(inOrder(nodes).stream().sorted().toList()))) {
            throw new IllegalArgumentException(
                    "NUMA nodes: want the " + count + " CPUs " + cpus + " among them, have " + nodes);
        }
    }

    /** Places CPUs whose NUMA nodes are unknown, or that have one alone. */
    public CpuPlacement(int count, CpuSet cpus, OptionalInt node) {
        this(count, cpus, node, List.of());
    }

    /** Returns the number of queues of a virtio disk or network card. */
    public int queues() {
        return Math.min(count, MAX_QUEUES);
    }

    /**
     * Returns the host CPUs of one guest CPU: one CPU where there are as many as the guest has, otherwise any of them.
     * The guest has CPUs of one NUMA node one after the other.
     */
    public CpuSet pin(int vcpu) {
        if (count != cpus.numbers().size()) {
            return cpus;
        }
        List<Integer> order = nodes.isEmpty() ? cpus.numbers() : inOrder(nodes);
        return new CpuSet(List.of(order.get(vcpu)));
    }

    private static List<Integer> inOrder(List<HostNumaNode> nodes) {
        return nodes.stream().flatMap(each -> each.cpus().numbers().stream()).toList();
    }
}
