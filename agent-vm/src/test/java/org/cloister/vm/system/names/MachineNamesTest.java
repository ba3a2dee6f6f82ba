package org.cloister.vm.system.names;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineNamesTest {
    private static final Ipv4Address C = new Ipv4Address("10.70.0.1");
    private static final Ipv4Address W = new Ipv4Address("10.70.0.20");
    private static final Ipv4Address V = new Ipv4Address("10.70.0.3");

    @Test
    void every_name_leads_to_an_address_and_back() {
        assertThat(new NodeAddresses("w1", Map.of("c", C, "w1", W, "w2", V)).hosts())
                .isEqualTo("127.0.0.1 localhost\n10.70.0.1 c\n10.70.0.3 w2\n10.70.0.20 w1\n");
        assertThatThrownBy(() -> new NodeAddresses("w1", Map.of("w1", C, "w2", C)))
                .hasMessageEndingWith("want an address of its own, have 10.70.0.1");
        assertThatThrownBy(() -> new NodeAddresses("w2", Map.of("w1", C)))
                .hasMessage("nodes: want w2 among them, have [w1]");
        for (String name : List.of("", "-a", "a-", "A", "a b", "a\nb", "localhost", "a".repeat(64))) {
            assertThatThrownBy(() -> new NodeAddresses(name, Map.of(name, C)))
                    .hasMessageStartingWith("node: want a name");
        }
    }

    /** In a namespace of host names, which ends with the program that has it. */
    @Test
    void files_and_kernel_say_the_same(@TempDir Path folder) throws IOException {
        Process space = new ProcessBuilder("unshare", "--uts", "sleep", "60").start();
        try {
            Path own = Path.of("/proc", Long.toString(space.pid()), "ns/uts");
            Path ours = Path.of("/proc/self/ns/uts");
            while (Files.readSymbolicLink(own).equals(Files.readSymbolicLink(ours)) && space.isAlive()) {
                Thread.onSpinWait();
            }
            ProcessRunner programs = ProcessRunner.withPrefix(List.of("nsenter", "--uts=" + own));
            MachineNames names = new MachineNames(programs, folder);
            names.write(new NodeAddresses("w1", Map.of("w1", W, "c", C)));
            names.write(new NodeAddresses("w1", Map.of("w1", W, "c", C)));
            assertThat(programs.runChecked("uname", "-n")).isEqualTo("w1\n");
            assertThat(folder.resolve("hostname")).hasContent("w1\n");
            assertThat(folder.resolve("hosts")).content().startsWith("127.0.0.1 localhost\n10.70.0.1 c\n");
            try (var files = Files.list(folder)) {
                assertThat(files).hasSize(2);
            }
        } finally {
            space.destroyForcibly();
        }
    }
}
