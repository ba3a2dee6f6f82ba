package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentVmStatusFileTest {
    private static final String SECONDS = " [0-9]+\\.[0-9]{2} [0-9]+\\.[0-9]{2}";

    @TempDir
    private Path folder;

    @Test
    void the_file_says_the_phase_the_keys_and_when_each_phase_was_reached() throws IOException {
        Path file = folder.resolve("run/agent-vm.status");
        AgentVmStatusFile status = AgentVmStatusFile.create(file);
        assertThat(Files.readString(file)).matches("phase started\nstarted" + SECONDS + "\n");
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (BootKeyPairs keys = BootKeyPairs.generate(secrets)) {
            status.writeKeys(keys.publicKeys());
            double seconds = status.writePhase(AgentVmPhase.ATTACHED);
            status.writePhase(AgentVmPhase.LOST);
            assertThat(Files.readAllLines(file))
                    .hasSize(7)
                    .contains(
                            "phase lost",
                            "signing " + keys.publicKeys().signing(),
                            "sealing " + keys.publicKeys().sealing())
                    .anyMatch(line ->
                            line.matches("attached" + SECONDS) && line.startsWith("attached %.2f ".formatted(seconds)));
        }
        AgentVmStatusFile.create(file);
        assertThat(Files.readString(file)).as("of another process").startsWith("phase started\nstarted ");
    }

    @Test
    void the_kernels_counts_are_read_whatever_the_program_is_called() {
        String stat = "7 (a ) R 1) S 1 7 7 0 -1 4194560 100 0 0 0 5 3 0 0 20 0 20 0 1234 1000 200 18446744073709551615";
        assertThat(Uptime.read("20.50 18.99\n", stat)).hasToString("20.50 8.16");
        assertThat(Uptime.read("12.33 1.00\n", stat))
                .as("never before its start")
                .hasToString("12.33 0.00");
    }
}
