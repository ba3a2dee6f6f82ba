package org.cloister.vm;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.daemon.BadConfigException;
import org.cloister.vm.boot.BootConfig;
import org.cloister.vm.users.Members;

/** Whatever lies in the files of agent-vm: what they say, or problems with lines. */
class ConfigFuzz {
    @FuzzTest(maxDuration = "60s")
    void configurations_and_members_end_in_a_value_or_in_problems(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("agent-vm", ".toml");
        try {
            Files.write(file, bytes);
            read(() -> ControllerConfig.load(file));
            read(() -> Members.load(file));
            read(() -> Members.read(file, bytes));
            read(() -> ProjectSettings.read(file, bytes));
            read(() -> BootConfig.load(file));
        } finally {
            Files.delete(file);
        }
    }

    private interface Reading {
        Object read() throws IOException;
    }

    private static void read(Reading reading) throws IOException {
        try {
            reading.read();
        } catch (BadConfigException e) {
            if (e.problems().isEmpty()) {
                throw new IllegalStateException("refused for nothing", e);
            }
        } catch (MalformedInputException e) {
            // Not UTF-8.
        }
    }
}
