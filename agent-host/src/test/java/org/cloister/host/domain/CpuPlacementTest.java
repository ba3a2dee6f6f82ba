package org.cloister.host.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class CpuPlacementTest {
    @Test
    void sets_of_cpus_are_written_as_the_kernel_writes_them() {
        for (String text : new String[] {"0", "0-3", "0-1,64-65", "0,2,4", "4095"}) {
            assertThat(CpuSet.parse(text)).hasToString(text);
        }
        for (String wrong : new String[] {"", "3-1", "1,1", "2,1", "0-4096", "00", "1-", "a", "0-1 ", "0\n", "1,,2"}) {
            assertThatThrownBy(() -> CpuSet.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void cpus_are_pinned_one_to_one_where_there_are_as_many() {
        CpuPlacement same = new CpuPlacement(3, CpuSet.parse("1,5-6"), OptionalInt.empty());
        assertThat(same.pin(0)).hasToString("1");
        assertThat(same.pin(2)).hasToString("6");
        assertThat(new CpuPlacement(2, CpuSet.parse("1,5-6"), OptionalInt.empty()).pin(1))
                .hasToString("1,5-6");
        assertThat(new CpuPlacement(32, CpuSet.parse("0-31"), OptionalInt.empty()).queues())
                .isEqualTo(8);
    }
}
