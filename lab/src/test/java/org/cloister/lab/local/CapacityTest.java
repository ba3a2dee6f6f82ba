package org.cloister.lab.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.vm.Shape;
import org.junit.jupiter.api.Test;

/** Hosts are given as the site's Slurm would: on different hosts, CPUs and memory once. */
class CapacityTest {
    private static final List<Shape> TWO = List.of(new Shape(1, 2, 1000, 100), new Shape(1, 4, 3000, 100));

    @Test
    void slots_of_a_ticket_lie_on_different_hosts_and_have_addresses_one_after_the_other() {
        assertThat(free().places(need(2, 2, 500), 7))
                .contains(List.of(new Place(0, 7, 2, 500, 0, false), new Place(1, 8, 2, 500, 0, false)));
    }

    @Test
    void what_is_taken_is_not_given_again() {
        Capacity rest = new Capacity(TWO, List.of(new Place(1, 0, 3, 100, 0, true)));
        assertThat(rest.places(need(1, 2, 1500), 0)).isEmpty();
        assertThat(rest.places(need(1, 1, 2900), 0)).isPresent();
        assertThat(rest.places(need(1, 1, 2901), 0)).isEmpty();
        assertThat(rest.everFits(need(1, 4, 3000))).isTrue();
        assertThat(rest.everFits(need(1, 4, 3001))).isFalse();
        assertThat(rest.everFits(need(2, 2, 1001))).isFalse();
    }

    @Test
    void a_whole_host_is_given_with_all_it_has_and_to_nobody_else() {
        Need whole = new Need(1, 1, 0, 0, true, List.of());
        assertThat(free().places(whole, 3)).contains(List.of(new Place(0, 3, 2, 1000, 100, false)));
        Capacity touched = new Capacity(TWO, List.of(new Place(0, 0, 1, 1, 0, true)));
        assertThat(touched.places(whole, 3)).contains(List.of(new Place(1, 3, 4, 3000, 100, false)));
        Capacity given =
                new Capacity(TWO, List.of(new Place(0, 0, 2, 1000, 100, true), new Place(1, 1, 4, 3000, 100, true)));
        assertThat(given.places(need(1, 1, 1), 0)).isEmpty();
    }

    private static Capacity free() {
        return new Capacity(TWO, List.of());
    }

    private static Need need(int nodes, int cpus, long memoryMib) {
        return new Need(nodes, cpus, memoryMib, 0, false, List.of());
    }
}
