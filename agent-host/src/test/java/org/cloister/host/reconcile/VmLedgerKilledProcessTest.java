package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real process with the ledger, and a real SIGKILL. */
class VmLedgerKilledProcessTest {
    @TempDir
    private Path folder;

    @Test
    void what_a_killed_process_said_to_be_written_is_there_and_the_ledger_is_free() throws Exception {
        Path file = folder.resolve("ledger");
        List<String> reported = new ArrayList<>();
        for (int attempt = 0; attempt < 4; attempt++) {
            Process process = start(file, reported.size() + attempt);
            try (BufferedReader out = process.inputReader()) {
                for (int i = 0; i < 20 + attempt; i++) {
                    reported.add(out.readLine());
                }
                assertThatThrownBy(() -> VmLedger.open(file)).hasMessageContaining("another process has locked it");
                // Not the process's own, which closes what it said.
                process.toHandle().destroyForcibly();
                process.waitFor();
                out.lines().forEach(reported::add);
            }
            try (VmLedger ledger = VmLedger.open(file)) {
                List<String> there = ledger.entries().stream()
                        .map(entry -> entry.owner().uuid())
                        .toList();
                // The last may have been written and not told.
                assertThat(there).containsAll(reported).hasSizeBetween(reported.size(), reported.size() + attempt + 1);
            }
        }
    }

    private static Process start(Path file, int first) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        VmLedgerProgram.class.getName(),
                        file.toString(),
                        Integer.toString(first))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
