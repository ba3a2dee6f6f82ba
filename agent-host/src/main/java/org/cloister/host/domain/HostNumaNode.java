package org.cloister.host.domain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * NUMA node of the host and CPUs of it.
 *
 * @param number as the kernel numbers it
 * @param cpus all of its CPUs, or those of a step
 */
public record HostNumaNode(int number, CpuSet cpus) {
    /** The kernel's largest number, CONFIG_NODES_SHIFT 10. */
    public static final int MAX_NUMBER = 1023;

    /** @throws IllegalArgumentException if the kernel has no such number */
    public HostNumaNode {
        if (number < 0 || number > MAX_NUMBER) {
            throw new IllegalArgumentException("NUMA node: want 0 to " + MAX_NUMBER + ", have " + number);
        }
    }

    /**
     * Returns the nodes of CPUs, each with those of them that it has, by number.
     *
     * @param all nodes of the host
     * @param memory numbers of the nodes whose memory may be used
     * @return empty if a CPU is of none of the nodes, or of one whose memory may not be used
     */
    public static List<HostNumaNode> of(CpuSet cpus, List<HostNumaNode> all, List<Integer> memory) {
        List<HostNumaNode> nodes = new ArrayList<>();
        Set<Integer> left = new TreeSet<>(cpus.numbers());
        for (HostNumaNode node : all) {
            List<Integer> own =
                    node.cpus().numbers().stream().filter(left::remove).toList();
            if (!own.isEmpty() && memory.contains(node.number())) {
                nodes.add(new HostNumaNode(node.number(), new CpuSet(own)));
            } else if (!own.isEmpty()) {
                return List.of();
            }
        }
        nodes.sort(Comparator.comparingInt(HostNumaNode::number));
        return left.isEmpty() ? List.copyOf(nodes) : List.of();
    }
}
