package org.cloister.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FiguresTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final Figures figures = new Figures("boot", new PrintStream(said, true, StandardCharsets.UTF_8));

    @Test
    void prints_medians_and_a_ratio_above_one_when_ours_is_better() {
        figures.times("userspace", new double[] {2, 1, 9}, new double[] {8, 1, 4});
        assertThat(said.toString(StandardCharsets.UTF_8))
                .isEqualTo("boot userspace ours=2.000 peer=4.000 ratio=2.00 unit=s\n");
    }

    @Test
    void prints_p99_only_where_a_hundred_values_give_one() {
        double[] values = new double[100];
        Arrays.setAll(values, i -> i + 1);
        figures.times("userspace", values, values);
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("boot userspace_p99 ours=99.000 peer=99.000 ratio=1.00 unit=s\n");
    }
}
