package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class LauncherTest {
    private static final String LAUNCHER =
            BuiltPackages.ROOT.resolve("packaging/target/root/usr/bin/agentctl").toString();

    @TempDir
    Path folder = Path.of("");

    @Test
    void takes_the_java_of_JAVA_HOME_and_passes_words_on_as_they_are() throws IOException, InterruptedException {
        Path home = java("a jdk", "21.0.2");
        PackagingCommand.Result result = PackagingCommand.of(LAUNCHER, "two words", "", "$HOME", "*")
                .with("JAVA_HOME", home.toString())
                .run();
        assertThat(result.status()).isEqualTo(7);
        assertThat(result.text())
                .contains("[-XX:TieredStopAtLevel=1]")
                .endsWith("[org.cloister.ctl.Agentctl][two words][][$HOME][*]\n");
    }

    @Test
    void gives_little_memory_to_what_waits_for_a_vm_and_to_nothing_else() throws IOException, InterruptedException {
        Path home = java("jdk", "17.0.1");
        PackagingCommand.Result run = PackagingCommand.of(LAUNCHER, "host", "run", "x")
                .with("JAVA_HOME", home.toString())
                .run();
        assertThat(run.text()).contains("[-Xmx16m]", "[-Xss256k]").endsWith("[host][run][x]\n");
        PackagingCommand.Result status = PackagingCommand.of(LAUNCHER, "host", "status")
                .with("JAVA_HOME", home.toString())
                .run();
        assertThat(status.text()).doesNotContain("-Xmx");
    }

    @Test
    void asks_a_java_that_has_no_release_file_for_its_version() throws IOException, InterruptedException {
        Path home = java("jdk", "17.0.1");
        Files.delete(home.resolve("release"));
        PackagingCommand.Result result =
                PackagingCommand.of(LAUNCHER).with("JAVA_HOME", home.toString()).run();
        assertThat(result.status()).isEqualTo(7);
    }

    @Test
    void passes_by_a_java_that_is_too_old() throws IOException, InterruptedException {
        for (String version : new String[] {"1.8.0_392", "11.0.22", "16"}) {
            Path home = java("jdk " + version, version);
            // The class path of the package is not on this machine, so the distribution's Java finds no main class.
            PackagingCommand.Result result = PackagingCommand.of(LAUNCHER)
                    .with("JAVA_HOME", home.toString())
                    .run();
            assertThat(result.status()).as(version).isNotEqualTo(7);
            assertThat(result.text()).as(version).doesNotContain("[-XX:");
        }
    }

    /** A java that prints its words and exits with 7. */
    private Path java(String name, String version) throws IOException {
        Path home = Files.createDirectories(folder.resolve(name));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
        Files.writeString(
                java,
                "#!/bin/sh\n[ \"$1\" = -version ] && { echo 'openjdk version \"" + version + "\"' >&2; exit 0; }\n"
                        + "printf '[%s]' \"$@\"\necho\nexit 7\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        return home;
    }
}
