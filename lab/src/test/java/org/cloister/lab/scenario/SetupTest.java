package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.cloister.lab.Command;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What stands in the lab's way is named before anything is begun. */
@Tag("scenario")
@Tag("ground")
class SetupTest {
    private static final String SETUP =
            Path.of(System.getProperty("cloister.root"), "lab", "setup").toString();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void refuses_a_disk_without_room() throws IOException {
        String script = "mount -t tmpfs -o size=16m tmpfs /mnt && CLOISTER_LAB_DIR=/mnt exec \"$1\"";
        Command.Output setup = Command.of("unshare", "--mount", "sh", "-c", script, "full", SETUP)
                .run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("16 MiB free, want", "make room, or set CLOISTER_LAB_DIR");
    }

    @Test
    void refuses_a_folder_that_its_machines_cannot_see() throws IOException {
        Command.Output setup =
                Command.of(SETUP).with(Map.of("CLOISTER_LAB_DIR", "/tmp/lab")).run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("CLOISTER_LAB_DIR=/tmp/lab", "choose a folder elsewhere");
    }

    @Test
    void refuses_a_machine_without_a_compiler() throws IOException {
        Path tools = Files.createDirectory(folder.resolve("bin"));
        for (String tool : new String[] {"bash", "dirname", "id", "apt-get", "mvn", "env"}) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin", tool));
        }
        Command.Output setup =
                Command.of(SETUP).with(Map.of("PATH", tools.toString())).run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("no javac", "apt-get install openjdk-17-jdk-headless");
    }

    @Test
    void refuses_an_ordinary_user() throws IOException {
        Command.Output setup = Command.of("unshare", "--user", SETUP).run();
        assertThat(setup.exit()).isNotZero();
        assertThat(setup.err()).contains("uid 65534: the lab makes namespaces", "run it with sudo");
    }
}
