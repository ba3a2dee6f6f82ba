package org.cloister.vm.controller.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The lines that agentctl is held by, too. */
class JobStatusVectorsTest {
    static final Path VECTORS = Path.of(
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
            assertThatThrownBy(() -> JobStatusDocument.parse(document)).isInstanceOf(MalformedException.class);
            return;
        }
        assertThat(parts[0]).isEqualTo("read");
        assertThat(JobStatusDocument.parse(document).bytes())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(parts[1] + "\n");
    }
}
