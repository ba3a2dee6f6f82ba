package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.InvalidConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentVmConfigTest {
    private static final Path SAMPLE =
            Path.of(System.getProperty("cloister.root"), "agent-vm/src/main/config/agent-vm.toml");

    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("agent-vm.toml"), text);
    }

    @Test
    void the_sample_says_what_holds_without_it_and_so_does_its_every_key() throws IOException {
        AgentVmConfig plain = new AgentVmConfig(Optional.empty(), Path.of("/run/cloister"), Optional.empty(), "info");
        assertThat(AgentVmConfig.load(SAMPLE)).isEqualTo(plain);
        String uncommented = Files.readString(SAMPLE).replaceAll("(?m)^#(\\w+ =)", "$1");
        assertThat(AgentVmConfig.load(file(uncommented)))
                .isEqualTo(new AgentVmConfig(
                        Optional.of(Path.of("/dev/vport1p1")),
                        plain.run(),
                        Optional.of(Path.of("/var/lib/prometheus/node-exporter/cloister-vm.prom")),
                        plain.log()));
    }

    @Test
    void all_that_is_wrong_is_said_with_its_line() throws IOException {
        Path file = file("port = 1\nodd = 2\nlog = \"loud\"\nmetrics = \"/m.txt\"\n");
        assertThatThrownBy(() -> AgentVmConfig.load(file))
                .isInstanceOfSatisfying(
                        InvalidConfigException.class,
                        refused -> assertThat(refused.problems())
                                .satisfiesExactly(
                                        first -> assertThat(first).startsWith(file + ":1: port: "),
                                        second -> assertThat(second)
                                                .startsWith(file + ":2: odd: unknown key; known: port"),
                                        third -> assertThat(third)
                                                .isEqualTo(
                                                        file + ":3: log: want one of error, warn, info, debug, trace, "
                                                                + "have \"loud\""),
                                        fourth -> assertThat(fourth)
                                                .startsWith(file + ":4: metrics: want a name that ends")));
    }

    @Test
    void a_file_that_was_named_has_to_be_there() {
        assertThatThrownBy(() -> AgentVmConfig.load(folder.resolve("none.toml")))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("none.toml: no such file");
    }
}
