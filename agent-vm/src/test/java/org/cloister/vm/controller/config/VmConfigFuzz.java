package org.cloister.vm.controller.config;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.daemon.InvalidConfigException;
import org.cloister.vm.boot.AgentVmConfig;
import org.cloister.vm.system.users.ProjectMembers;

/** Fuzzes the readers of agent-vm's files: each input is settings, or problems with lines. */
class VmConfigFuzz {
    @FuzzTest(maxDuration = "60s")
    void configurations_and_members_end_in_a_value_or_in_problems(byte[] bytes) throws IOException {
        Path file = Files.createTempFile("agent-vm", ".toml");
        try {
            Files.write(file, bytes);
            read(() -> ControllerConfig.load(file));
            read(() -> ProjectMembers.load(file));
            read(() -> ProjectMembers.read(file, bytes));
            read(() -> ProjectSettings.read(file, bytes));
            read(() -> AgentVmConfig.load(file));
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
        } catch (InvalidConfigException e) {
            if (e.problems().isEmpty()) {
                throw new IllegalStateException("refused for nothing", e);
            }
        } catch (MalformedInputException e) {
            // Not UTF-8.
        }
    }
}
