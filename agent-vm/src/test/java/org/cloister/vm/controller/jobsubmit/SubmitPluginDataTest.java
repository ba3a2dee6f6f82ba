package org.cloister.vm.controller.jobsubmit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.cloister.vm.controller.config.HostShape;
import org.junit.jupiter.api.Test;

class SubmitPluginDataTest {
    private static final Path NOTIFY_FILE = Path.of("/run/cloister/bell");
    private static final List<HostShape> SHAPES = List.of(new HostShape(2, 64, 128_000, 0));

    @Test
    void is_one_line_of_lua() {
        assertThat(StagedSubmitScript.EXAMPLE.lua("7-abc"))
                .isEqualTo("{mark = \"7-abc\", bell = \"/run/cloister/bell\", features = {\"fast\", \"big\"}, shapes = "
                        + "{{hosts = 2, cpus = 64, memory = 128000, scratch = 0}, "
                        + "{hosts = 1, cpus = 16, memory = 256000, scratch = 100000}}, memory_per_cpu = 2048}");
    }

    @Test
    void takes_nothing_that_would_be_more_than_data() {
        for (String name : List.of("", "a\"b", "a]]", "a\\", "a\nb", "a&b", "ä", "x".repeat(65))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new SubmitPluginData(1, NOTIFY_FILE, List.of(name), SHAPES, 1024))
                    .withMessageStartingWith("features: ");
        }
        for (String path : List.of("bell", "/run/\"bell", "/run/a b")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new SubmitPluginData(1, Path.of(path), List.of(), SHAPES, 1024))
                    .withMessageStartingWith("bell: ");
        }
    }

    @Test
    void has_bounds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SubmitPluginData(0, NOTIFY_FILE, List.of(), SHAPES, 1024))
                .withMessage("release: want at least 1, have 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SubmitPluginData(1, NOTIFY_FILE, List.of("a", "a"), SHAPES, 1024))
                .withMessage("features: want at most 32, each once, have 2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SubmitPluginData(1, NOTIFY_FILE, List.of(), List.of(), 1024))
                .withMessage("shapes: want 1 to 64, have 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        new SubmitPluginData(1, NOTIFY_FILE, List.of(), Collections.nCopies(65, SHAPES.get(0)), 1024))
                .withMessage("shapes: want 1 to 64, have 65");
        for (long memory : new long[] {0, 128_001}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new SubmitPluginData(1, NOTIFY_FILE, List.of(), SHAPES, memory))
                    .withMessage(
                            "memory of a CPU: want 1 to 128000 MiB, which the site's largest host has, have " + memory);
        }
    }
}
