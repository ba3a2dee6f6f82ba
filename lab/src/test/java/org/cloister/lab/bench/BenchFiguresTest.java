package org.cloister.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BenchFiguresTest {
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    private final BenchFigures figures =
            new BenchFigures("boot", new PrintStream(output, true, StandardCharsets.UTF_8));

    @Test
    void prints_medians_and_a_ratio_above_one_when_ours_is_better() {
        figures.times("userspace", new double[] {2, 1, 9}, new double[] {8, 1, 4});
        assertThat(output.toString(StandardCharsets.UTF_8))
                .isEqualTo("boot userspace ours=2.000 peer=4.000 ratio=2.00 unit=s\n");
    }

    @Test
    void prints_p99_only_where_a_hundred_values_give_one() {
        double[] values = new double[100];
        Arrays.setAll(values, i -> i + 1);
        figures.times("userspace", values, values);
        assertThat(output.toString(StandardCharsets.UTF_8))
                .contains("boot userspace_p99 ours=99.000 peer=99.000 ratio=1.00 unit=s\n");
    }

    @Test
    void prints_the_least_and_the_most_of_alternating_rounds() {
        figures.roundRates("throughput", new double[] {2, 6, 4}, new double[] {4, 2, 4}, "MB/s");
        figures.roundTimes("p99", new double[] {2, 6, 4}, new double[] {4, 2, 4});
        assertThat(output.toString(StandardCharsets.UTF_8))
                .isEqualTo("boot throughput ours=4.000000 peer=4.000000 ratio=1.00 ratio_min=0.50 ratio_max=3.00"
                        + " unit=MB/s\n"
                        + "boot p99 ours=4.000000 peer=4.000000 ratio=1.00 ratio_min=0.33 ratio_max=2.00 unit=s\n");
    }

    @Test
    void prints_what_has_no_peer_beside_its_limit_or_alone() {
        figures.within("idle", new double[] {60, 64, 80}, 96, "MB");
        figures.alone("back", new double[] {3, 1, 2}, "s");
        assertThat(output.toString(StandardCharsets.UTF_8))
                .isEqualTo("boot idle ours=64.000 limit=96.000 ratio=1.50 unit=MB\nboot back ours=2.000 unit=s\n");
    }

    @Test
    void prints_the_p99_of_what_has_no_peer_on_a_line_of_its_own() {
        double[] values = new double[100];
        Arrays.setAll(values, i -> i + 1);
        figures.p99("tap", values, "s");
        assertThat(output.toString(StandardCharsets.UTF_8))
                .isEqualTo("boot tap ours=50.000 unit=s\nboot tap_p99 ours=99.000 unit=s\n");
    }
}
