package org.cloister.vm.system.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a daemon finds of a secret that it was given, and what remains of it afterwards. */
class SecretFileTest {
    @TempDir
    private Path folder;

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    private DaemonAccount reader;

    SecretFileTest() throws IOException {}

    @BeforeEach
    void account() throws IOException {
        reader = new DaemonAccount(
                "munge", (int) Files.getAttribute(folder, "unix:uid"), (int) Files.getAttribute(folder, "unix:gid"));
    }

    @Test
    void it_is_its_readers_alone_and_is_overwritten_before_it_goes() throws IOException {
        SecretFile file = new SecretFile(folder.resolve("munge/munge.key"));
        file.erase();
        try (SecretMemory first = secrets.random(128);
                SecretMemory second = secrets.random(128)) {
            file.write(secrets, first, reader);
            assertThat(mode(file.path())).isEqualTo("r--------");
            assertThat(mode(folder.resolve("munge"))).isEqualTo("rwx------");
            assertThat(holds(file, first)).isTrue();
            // Another name of the same file shows what is left of it.
            Path seen = Files.createLink(folder.resolve("seen"), file.path());
            file.write(secrets, second, reader);
            assertThat(Files.readAllBytes(seen)).isEqualTo(new byte[128]);
            assertThat(holds(file, second)).isTrue();
            assertThat(holds(file, first)).isFalse();
            Path last = Files.createLink(folder.resolve("last"), file.path());
            file.erase();
            assertThat(Files.readAllBytes(last)).isEqualTo(new byte[128]);
            assertThat(file.path()).doesNotExist();
        }
    }

    @Test
    void a_link_in_its_place_is_not_followed() throws IOException {
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "text");
        Files.createDirectory(folder.resolve("munge"));
        Files.createSymbolicLink(folder.resolve("munge/munge.key"), elsewhere);
        SecretFile file = new SecretFile(folder.resolve("munge/munge.key"));
        try (SecretMemory secret = secrets.random(128)) {
            assertThatThrownBy(() -> file.write(secrets, secret, reader)).isInstanceOf(IOException.class);
        }
        assertThat(elsewhere).hasContent("text");
    }

    @Test
    void munged_has_its_key_while_it_runs_and_no_longer() throws IOException {
        List<String> reported = new ArrayList<>();
        Path key = folder.resolve("run/munge/munge.key");
        UnitControl services = new UnitControl() {
            @Override
            public void start(String unit, String settings) {
                reported.add("start " + unit + " " + Files.exists(key) + " " + settings.contains("--key-file=" + key));
            }

            @Override
            public void tryRestart(String unit) {
                throw new AssertionError(unit);
            }

            @Override
            public void stop(String unit) {
                reported.add("stop " + unit + " " + Files.exists(key));
            }
        };
        MungeDaemon munged = new MungeDaemon(services, folder.resolve("run"));
        try (SecretMemory secret = secrets.random(128)) {
            munged.start(secrets, secret, reader);
        }
        munged.stop();
        munged.stop();
        assertThat(reported)
                .containsExactly(
                        "start munge.service true true", "stop munge.service true", "stop munge.service false");
        assertThat(key).doesNotExist();
    }

    @Test
    void an_account_that_the_image_lacks_is_said() throws IOException {
        Path passwd = Files.writeString(folder.resolve("passwd"), "root:x:0:0::/root:/bin/sh\nmunge:x:110:111::/:/x\n");
        assertThat(DaemonAccount.of(passwd, "munge")).isEqualTo(new DaemonAccount("munge", 110, 111));
        assertThatThrownBy(() -> DaemonAccount.of(passwd, "mysql")).hasMessageContaining("there is no account mysql");
    }

    private boolean holds(SecretFile file, SecretMemory secret) throws IOException {
        try (SecretMemory read = secrets.readFile(file.path(), 1024)) {
            return read.sameAs(secret);
        }
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
