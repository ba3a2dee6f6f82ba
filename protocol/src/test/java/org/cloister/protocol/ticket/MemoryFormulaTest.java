package org.cloister.protocol.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryFormulaTest {
    private static final MemoryReserves RESERVES =
            new MemoryReserves(new MemoryReserve(256, 64), new MemoryReserve(192, 256));

    @Test
    void a_request_grows_by_the_guests_reserve_and_then_by_qemus() {
        assertThat(MemoryFormula.forRequest(4096, RESERVES)).isEqualTo(new MemoryFormula(4096, 4416, 4626));
        assertThat(MemoryFormula.forRequest(1, RESERVES)).isEqualTo(new MemoryFormula(1, 258, 452));
    }

    @Test
    void a_steps_limit_gives_the_vm_all_that_it_holds() {
        assertThat(MemoryFormula.within(4626, 4096, RESERVES)).isEqualTo(new MemoryFormula(4096, 4416, 4626));
        assertThatThrownBy(() -> MemoryFormula.within(4625, 4096, RESERVES))
                .hasMessageStartingWith(
                        "memory of the step: want 4626 to 16777216 MiB for a ticket of 4096 MiB, have 4625");
        assertThatThrownBy(() -> MemoryFormula.within(300, 0, RESERVES)).hasMessageContaining("have 300 MiB");
    }

    @Test
    void what_fits_a_limit_is_the_largest_that_does() {
        Random random = new Random(20261122);
        for (int i = 0; i < 10_000; i++) {
            int limit = 452 + random.nextInt(1 << 22);
            MemoryFormula plan = MemoryFormula.within(limit, 1, RESERVES);
            MemoryFormula same = MemoryFormula.forRequest(plan.real(), RESERVES);
            assertThat(same.vm()).isEqualTo(plan.vm());
            assertThat(same.global()).isLessThanOrEqualTo(limit);
            assertThat(MemoryFormula.forRequest(plan.real() + 1, RESERVES).global())
                    .isGreaterThan(limit);
        }
    }

    @Test
    void a_request_beyond_what_global_slurm_can_be_asked_is_refused() {
        assertThatThrownBy(() -> MemoryFormula.forRequest(1 << 24, RESERVES)).hasMessageContaining("have 16777216 MiB");
        assertThatThrownBy(() -> MemoryFormula.forRequest(0, RESERVES)).hasMessageContaining("have 0 MiB");
    }
}
