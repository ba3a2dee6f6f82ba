package org.cloister.vm.controller.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalSlurmSettingsTest {
    @TempDir
    Path folder;

    @Test
    void a_command_of_the_start_may_take_longer_than_one_of_every_day() throws IOException {
        Path slow = folder.resolve("sacctmgr");
        Files.writeString(slow, "#!/bin/sh\nsleep 2\necho done\n");
        Files.setPosixFilePermissions(slow, PosixFilePermissions.fromString("rwx------"));
        LocalSlurmSettings settings = new LocalSlurmSettings(
                "project", "localhost", Optional.of(folder), Optional.empty(), Duration.ofMillis(200));

        assertThatThrownBy(() -> settings.program().succeed("sacctmgr", List.of()))
                .isInstanceOf(SlurmUnavailableException.class);
        assertThat(settings.program(Duration.ofMinutes(1)).succeed("sacctmgr", List.of()))
                .isEqualTo("done\n");
    }
}
