package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.cloister.lab.LabCommand;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Obstacles to the lab are named before it changes anything. */
@Tag("scenario")
@Tag("ground")
class LabSetupTest {
    private static final String SETUP =
            Path.of(System.getProperty("cloister.root"), "lab", "setup").toString();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void refuses_a_disk_without_room() throws IOException {
        String script = "mount -t tmpfs -o size=16m tmpfs /mnt && CLOISTER_LAB_DIR=/mnt exec \"$1\"";
        LabCommand.Output setup = LabCommand.of("unshare", "--mount", "sh", "-c", script, "full", SETUP)
                .run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("16 MiB free, want", "make room, or set CLOISTER_LAB_DIR");
    }

    @Test
    void refuses_a_folder_that_its_machines_cannot_see() throws IOException {
        LabCommand.Output setup = LabCommand.of(SETUP)
                .with(Map.of("CLOISTER_LAB_DIR", "/tmp/lab"))
                .run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("CLOISTER_LAB_DIR=/tmp/lab", "choose a folder elsewhere");
    }

    /** In a mount namespace without javac and mvn, with an apt-get that records what it is to install. */
    @Test
    void installs_a_compiler_and_maven_where_there_are_none() throws IOException {
        Path record = folder.resolve("asked-of-apt");
        Path apt = Files.writeString(folder.resolve("apt-get"), "#!/bin/sh\necho \"$@\" >>" + record + "\nexit 0\n");
        Files.setPosixFilePermissions(apt, PosixFilePermissions.fromString("rwxr-xr-x"));
        String script =
                "for each in $(which -a javac mvn); do mount --bind /dev/null $(readlink -f $each); done; exec \"$1\"";
        Path home = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "bare");
        try {
            LabCommand.Output setup = LabCommand.of("unshare", "--mount", "sh", "-c", script, "bare", SETUP)
                    .with(Map.of("PATH", folder + ":" + System.getenv("PATH"), "CLOISTER_LAB_DIR", home.toString()))
                    .run();
            assertThat(setup.exit()).isNotZero();
            // This apt-get has installed nothing.
            assertThat(setup.err()).contains("javac", "apt-get install default-jdk-headless");
            assertThat(Files.readString(record)).contains("install", "default-jdk-headless maven");
        } finally {
            LabCommand.of("rm", "-rf", home.toString()).succeed();
        }
    }

    @Test
    void refuses_an_ordinary_user() throws IOException {
        LabCommand.Output setup = LabCommand.of("unshare", "--user", SETUP).run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("uid 65534: the lab makes namespaces", "run it with sudo");
    }

    /** In a copy of the checkout, which is not built, with a maven that fails. */
    @Test
    void says_that_a_build_failed_and_does_not_take_it_for_one() throws IOException {
        Path copy = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "setup");
        try {
            String all = "cd \"$1\" && git ls-files -z | xargs -0 cp --parents -t \"$2\"";
            LabCommand.of("sh", "-c", all, "copy", System.getProperty("cloister.root"), copy.toString())
                    .succeed();
            Files.createDirectories(copy.resolve("lab/target"));
            Path tools = Files.createDirectory(folder.resolve("failing"));
            Files.createSymbolicLink(tools.resolve("mvn"), Path.of("/bin/false"));
            Map<String, String> environment = Map.of(
                    "PATH",
                    tools + ":" + System.getenv("PATH"),
                    "CLOISTER_LAB_DIR",
                    copy.resolve("home").toString());
            LabCommand.Output setup = LabCommand.of(copy.resolve("lab/setup").toString())
                    .with(environment)
                    .run();
            assertThat(setup.exit()).isNotZero();
            assertThat(setup.err()).contains("step \"build\" failed", "run mvn package");
            assertThat(copy.resolve("lab/target/built")).doesNotExist();
        } finally {
            LabCommand.of("rm", "-rf", copy.toString()).succeed();
        }
    }
}
