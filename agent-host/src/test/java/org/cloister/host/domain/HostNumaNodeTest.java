package org.cloister.host.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class HostNumaNodeTest {
    private static final HostNumaNode FIRST = node(0, "0-3,8-11");
    private static final HostNumaNode SECOND = node(1, "4-7,12-15");
    private static final List<HostNumaNode> ALL = List.of(SECOND, FIRST);

    private static HostNumaNode node(int number, String cpus) {
        return new HostNumaNode(number, CpuSet.parse(cpus));
    }

    private static List<HostNumaNode> of(String cpus, Integer... memory) {
        return HostNumaNode.of(CpuSet.parse(cpus), ALL, List.of(memory));
    }

    @Test
    void cpus_have_the_nodes_that_have_them() {
        assertThat(of("1-2", 0, 1)).containsExactly(node(0, "1-2"));
        assertThat(of("3,8,12", 0, 1)).containsExactly(node(0, "3,8"), node(1, "12"));
    }

    @Test
    void a_cpu_of_no_node_or_of_one_whose_memory_is_not_the_steps_leaves_all_unknown() {
        assertThat(of("3,16", 0, 1)).isEmpty();
        assertThat(of("3,12", 0, 2)).isEmpty();
        assertThat(of("3", 0, 2)).containsExactly(node(0, "3"));
        assertThat(HostNumaNode.of(CpuSet.parse("0"), List.of(), List.of(0, 1))).isEmpty();
    }

    @Test
    void a_guest_of_one_node_has_no_cells() {
        assertThat(GuestNumaCell.divide(List.of(), 4000, 1)).isEmpty();
        assertThat(GuestNumaCell.divide(of("0-3", 0, 1), 4000, 1)).isEmpty();
        assertThat(GuestNumaCell.areEven(List.of())).isFalse();
    }

    @Test
    void memory_is_divided_as_the_cpus_are() {
        assertThat(GuestNumaCell.divide(of("0-1,4-5", 0, 1), 4000, 1))
                .containsExactly(new GuestNumaCell(0, 1, 2000, 0), new GuestNumaCell(2, 3, 2000, 1));
        List<GuestNumaCell> uneven = GuestNumaCell.divide(of("0-2,4", 0, 1), 4002, 1);
        assertThat(uneven).containsExactly(new GuestNumaCell(0, 2, 3001, 0), new GuestNumaCell(3, 3, 1001, 1));
        assertThat(GuestNumaCell.areEven(uneven)).isFalse();
    }

    @Test
    void memory_that_does_not_divide_is_all_given_in_whole_pages() {
        assertThat(GuestNumaCell.divide(of("0-1,4-5", 0, 1), 4001, 1))
                .extracting(GuestNumaCell::memoryMib)
                .containsExactly(2000, 2001);
        assertThat(GuestNumaCell.divide(of("0-1,4-5", 0, 1), 5 * 1024, 1024))
                .extracting(GuestNumaCell::memoryMib)
                .containsExactly(2 * 1024, 3 * 1024);
        assertThat(GuestNumaCell.divide(of("0-4,8-11", 0, 1), 3, 1))
                .as("a page for a node with one of nine CPUs")
                .extracting(GuestNumaCell::memoryMib)
                .containsExactly(1, 2);
        assertThat(GuestNumaCell.divide(of("0,4", 0, 1), 1024, 1024))
                .as("one page cannot be of two nodes")
                .isEmpty();
    }

    @Test
    void a_guest_has_the_cpus_of_a_node_one_after_the_other() {
        CpuPlacement placement =
                new CpuPlacement(4, CpuSet.parse("3-4,8,12"), OptionalInt.empty(), of("3-4,8,12", 0, 1));
        assertThat(List.of(0, 1, 2, 3))
                .map(vcpu -> placement.pin(vcpu).toString())
                .containsExactly("3", "8", "4", "12");
    }

    @Test
    void nodes_that_are_not_those_of_the_cpus_are_refused() {
        CpuSet cpus = CpuSet.parse("0,4");
        assertThatThrownBy(() -> new CpuPlacement(2, cpus, OptionalInt.empty(), List.of(node(0, "0"))))
                .hasMessageStartingWith("NUMA nodes: want the 2 CPUs 0,4");
        assertThatThrownBy(() -> new CpuPlacement(1, cpus, OptionalInt.empty(), of("0,4", 0, 1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CpuPlacement(2, cpus, OptionalInt.of(0), of("0,4", 0, 1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> node(1024, "0")).hasMessage("NUMA node: want 0 to 1023, have 1024");
    }
}
