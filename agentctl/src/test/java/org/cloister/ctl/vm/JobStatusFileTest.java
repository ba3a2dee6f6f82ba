package org.cloister.ctl.vm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads the status lines by which agent-vm, which writes them, is tested too. */
class JobStatusFileTest {
    private static final Path VECTORS = Path.of(
            System.getProperty("cloister.root"),
            "agent-vm/src/test/resources/org/cloister/vm/controller/status/statuses.txt");

    static List<String> lines() throws IOException {
        return Files.readAllLines(VECTORS).stream()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("lines")
    void is_read_or_refused(String line) throws MalformedException {
        String[] parts = line.split(" ", 2);
        byte[] document = parts[1].getBytes(StandardCharsets.UTF_8);
        if (parts[0].equals("refused")) {
            assertThatThrownBy(() -> JobStatusFile.parse(document)).isInstanceOf(MalformedException.class);
        } else {
            assertThat(parts[0]).isEqualTo("read");
            assertThat(parts[1])
                    .contains("\"job\":\"" + JobStatusFile.parse(document).job() + "\"");
        }
    }

    @Test
    void says_phase_and_who_is_waited_on_in_one_line() {
        Instant since = Instant.parse("2026-11-22T08:00:00Z");
        assertThat(new JobStatusFile("12", "boot", "the site", "1 of 2 VMs are up", since).toSentence())
                .isEqualTo("boot, waits on the site, since 2026-11-22T08:00:00Z: 1 of 2 VMs are up");
        assertThat(new JobStatusFile("12", "start", "", "2 of 2 nodes are idle", since).toSentence())
                .isEqualTo("start, since 2026-11-22T08:00:00Z: 2 of 2 nodes are idle");
    }
}
