package org.cloister.vm.system.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands to systemd and their order; a program in its place records them. */
class SystemdUnitControlTest {
    @TempDir
    private Path folder;

    private SystemdUnitControl services;

    @BeforeEach
    void start() throws IOException {
        Path program = folder.resolve("behind");
        Files.writeString(
                program,
                "#!/bin/sh\nset -eu\necho \"$@\" >> " + folder + "/log\nif test -e " + folder
                        + "/fails && case \" $* \" in *\" $(cat " + folder
                        + "/fails) \"*) true ;; *) false ;; esac; then echo it fails >&2; exit 1; fi\n",
                java.nio.file.StandardOpenOption.CREATE_NEW);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        services =
                new SystemdUnitControl(ProcessRunner.withPrefix(List.of(program.toString())), folder.resolve("system"));
    }

    private List<String> log() throws IOException {
        return Files.readAllLines(folder.resolve("log"));
    }

    @Test
    void a_unit_is_started_as_its_settings_say_and_looked_at() throws IOException {
        services.start("munge.service", "[Service]\nExecStart=\n");
        assertThat(folder.resolve("system/munge.service.d/cloister.conf")).hasContent("[Service]\nExecStart=\n");
        assertThat(log())
                .containsExactly(
                        "systemctl daemon-reload",
                        "systemctl restart munge.service",
                        "systemctl is-active munge.service");
        services.tryRestart("munge.service");
        assertThat(log()).endsWith("systemctl --no-block try-restart munge.service");
        services.stop("munge.service");
        assertThat(log()).endsWith("systemctl stop munge.service");
    }

    @Test
    void what_systemd_refuses_is_said() throws IOException {
        for (String verb : List.of("restart", "is-active")) {
            Files.writeString(folder.resolve("fails"), verb);
            assertThatThrownBy(() -> services.start("munge.service", ""))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("munge.service")
                    .hasMessageContaining("it fails");
        }
        Files.writeString(folder.resolve("fails"), "try-restart");
        assertThatThrownBy(() -> services.tryRestart("munge.service")).hasMessageContaining("it fails");
        Files.writeString(folder.resolve("fails"), "stop");
        assertThatThrownBy(() -> services.stop("munge.service")).hasMessageContaining("it fails");
    }
}
