package org.cloister.host.domain;

import java.util.ArrayList;
import java.util.List;

/**
 * NUMA node of a guest: successive CPUs, and memory from one node of the host.
 *
 * @param node of the host
 */
record GuestNumaCell(int firstCpu, int lastCpu, int memoryMib, int node) {
    /**
     * Divides a guest into a cell for each of the host's nodes. Each has a page of memory, and of the rest as much as
     * it has of the CPUs; what does not divide goes to later cells.
     *
     * @param nodes with the CPUs of the guest, which has its CPUs in this order
     * @param pageMib unit of the memory, of which {@code memoryMib} is a multiple
     * @return empty for fewer than two nodes, or fewer pages than nodes
     */
    static List<GuestNumaCell> divide(List<HostNumaNode> nodes, int memoryMib, int pageMib) {
        int pages = memoryMib / pageMib;
        if (nodes.size() < 2 || pages < nodes.size()) {
            return List.of();
        }
        int cpus = nodes.stream().mapToInt(GuestNumaCell::count).sum();
        long rest = (long) pages - nodes.size();
        List<GuestNumaCell> cells = new ArrayList<>();
        int first = 0;
        for (HostNumaNode node : nodes) {
            int next = first + count(node);
            int own = (int) (1 + rest * next / cpus - rest * first / cpus);
            cells.add(new GuestNumaCell(first, next - 1, own * pageMib, node.number()));
            first = next;
        }
        return List.copyOf(cells);
    }

    /** Returns whether the cells have equally many CPUs, so that each can be a socket. */
    static boolean areEven(List<GuestNumaCell> cells) {
        return cells.stream()
                        .mapToInt(cell -> cell.lastCpu - cell.firstCpu)
                        .distinct()
                        .count()
                == 1;
    }

    /** Returns its CPUs in libvirt's notation. */
    String cpus() {
        return firstCpu == lastCpu ? Integer.toString(firstCpu) : firstCpu + "-" + lastCpu;
    }

    private static int count(HostNumaNode node) {
        return node.cpus().numbers().size();
    }
}
