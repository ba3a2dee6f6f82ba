package org.cloister.lab.localslurm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.vm.controller.config.HostShape;
import org.junit.jupiter.api.Test;

/** Hosts are given as the site's Slurm would: on different hosts, CPUs and memory once. */
class HostCapacityTest {
    private static final List<HostShape> TWO = List.of(new HostShape(1, 2, 1000, 100), new HostShape(1, 4, 3000, 100));

    @Test
    void slots_of_a_ticket_lie_on_different_hosts_and_have_addresses_one_after_the_other() {
        assertThat(free().allocate(need(2, 2, 500), 7))
                .contains(
                        List.of(new SlotPlacement(0, 7, 2, 500, 0, false), new SlotPlacement(1, 8, 2, 500, 0, false)));
    }

    @Test
    void what_is_taken_is_not_given_again() {
        HostCapacity rest = new HostCapacity(TWO, List.of(new SlotPlacement(1, 0, 3, 100, 0, true)));
        assertThat(rest.allocate(need(1, 2, 1500), 0)).isEmpty();
        assertThat(rest.allocate(need(1, 1, 2900), 0)).isPresent();
        assertThat(rest.allocate(need(1, 1, 2901), 0)).isEmpty();
        assertThat(rest.everFits(need(1, 4, 3000))).isTrue();
        assertThat(rest.everFits(need(1, 4, 3001))).isFalse();
        assertThat(rest.everFits(need(2, 2, 1001))).isFalse();
    }

    @Test
    void a_whole_host_is_given_with_all_it_has_and_to_nobody_else() {
        PerHostResources whole = new PerHostResources(1, 1, 0, 0, true, List.of());
        assertThat(free().allocate(whole, 3)).contains(List.of(new SlotPlacement(0, 3, 2, 1000, 100, false)));
        HostCapacity touched = new HostCapacity(TWO, List.of(new SlotPlacement(0, 0, 1, 1, 0, true)));
        assertThat(touched.allocate(whole, 3)).contains(List.of(new SlotPlacement(1, 3, 4, 3000, 100, false)));
        HostCapacity capacity = new HostCapacity(
                TWO, List.of(new SlotPlacement(0, 0, 2, 1000, 100, true), new SlotPlacement(1, 1, 4, 3000, 100, true)));
        assertThat(capacity.allocate(need(1, 1, 1), 0)).isEmpty();
    }

    private static HostCapacity free() {
        return new HostCapacity(TWO, List.of());
    }

    private static PerHostResources need(int nodes, int cpus, long memoryMib) {
        return new PerHostResources(nodes, cpus, memoryMib, 0, false, List.of());
    }
}
