package org.cloister.relay;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.daemon.InvalidConfigException;

/** Fuzzes the reader of the relay's configuration: each input is a configuration, or problems with lines. */
class RelayConfigFuzz {
    @FuzzTest(maxDuration = "60s")
    void configurations_end_in_a_value_or_in_problems(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("agent-relay", ".toml");
        try {
            Files.write(file, bytes);
            RelayConfig.load(file);
        } catch (InvalidConfigException e) {
            if (e.problems().isEmpty()) {
                throw new IllegalStateException("refused for nothing", e);
            }
        } catch (MalformedInputException e) {
            // Not UTF-8.
        } finally {
            Files.delete(file);
        }
    }
}
