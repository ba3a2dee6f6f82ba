package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
class RelayPackagesTest extends DaemonPackagesContract {
    RelayPackagesTest() {
        super(new Daemon(
                "agent-relay",
                BuiltPackages.RELAY_DEB,
                BuiltPackages.RELAY_RPM,
                Set.of(),
                List.of("/etc/cloister/agent-relay.toml"),
                Optional.of("agent-relay/src/main/config/agent-relay.toml"),
                List.of("/usr/lib/sysusers.d/cloister-agent-relay.conf"),
                TOOLS,
                List.of(),
                Set.of(),
                "agent-relay|audit-log|base|daemon|protocol|slurm-commands|transport"));
    }

    @Test
    void it_has_no_cryptography_to_open_what_it_passes_on() throws IOException {
        requireNoCryptography();
    }

    @Test
    void the_databases_library_is_a_file_and_nothing_is_unpacked_into_tmp(@TempDir Path folder)
            throws IOException, InterruptedException {
        requireNatives("org.sqlite.lib.path", "libsqlitejdbc.so");
        Path probe = Files.writeString(folder.resolve("Probe.java"), """
                import java.nio.file.Path;
                import org.cloister.relay.state.NetworkPool;
                import org.cloister.relay.state.RelayDatabase;
                public class Probe {
                    public static void main(String[] args) throws Exception {
                        RelayDatabase.open(Path.of(args[0]), NetworkPool.DEFAULT).close();
                        System.out.println("opened");
                    }
                }""");
        // There is no such folder, so that unpacking would fail.
        String tmp = "-Djava.io.tmpdir=" + folder.resolve("none");
        String database = folder.resolve("relay.db").toString();
        assertThat(saying(probe, List.of(tmp, "-Dorg.sqlite.lib.path=" + natives()), database))
                .contains("opened");
        assertThat(saying(probe, List.of(tmp, "-Dorg.sqlite.lib.path=" + folder), database))
                .doesNotContain("opened");
    }
}
