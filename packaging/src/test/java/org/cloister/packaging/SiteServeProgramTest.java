package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of {@code cloister-site-serve.service}, with a script in place of agentctl. */
@Tag("ground")
class SiteServeProgramTest {
    private static final Path SOURCES = BuiltPackages.ROOT.resolve("packaging/src/agentctl");

    @TempDir
    Path folder = Path.of("");

    @BeforeEach
    void write() throws IOException {
        Files.writeString(folder.resolve("site-secret"), "correct horse\n");
        Path agentctl = Files.writeString(folder.resolve("agentctl"), """
                #!/bin/sh
                printf '%s\\n' "$@"
                printf 'secret: '
                cat <&3
                env | grep -c 'correct horse'
                """);
        Files.setPosixFilePermissions(agentctl, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private PackagingCommand.Result run(String config) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("site-serve.conf"), config);
        return PackagingCommand.of(SOURCES.resolve("site-serve").toString(), file.toString())
                .with("CREDENTIALS_DIRECTORY", folder.toString())
                .with("AGENTCTL", folder.resolve("agentctl").toString())
                .run();
    }

    @Test
    void the_secret_is_on_a_descriptor_and_neither_an_argument_nor_in_the_environment()
            throws IOException, InterruptedException {
        assertThat(run("# mine\nsite /srv/ca\n\nrelay a:7443\nrelay b:7443\nmodule /m.so\nslot 1\nalias ca")
                        .text())
                .isEqualTo("""
                        site
                        serve
                        --site
                        /srv/ca
                        --relay
                        a:7443
                        --relay
                        b:7443
                        --module
                        /m.so
                        --slot
                        1
                        --alias
                        ca
                        --secret-fd
                        3
                        secret: correct horse
                        0
                        """);
    }

    @Test
    void the_example_is_a_configuration() throws IOException, InterruptedException {
        assertThat(run(Files.readString(SOURCES.resolve("site-serve.conf"))).text())
                .startsWith(
                        "site\nserve\n--site\n/var/lib/cloister/site\n--relay\nrelay.example.org:7443\n--secret-fd\n3\n");
    }

    @Test
    void a_wrong_configuration_or_a_missing_secret_ends_it_for_good() throws IOException, InterruptedException {
        for (String wrong : new String[] {"site /a b\n", "site\n", "secret-fd 0\n", "Site /a\n"}) {
            PackagingCommand.Result result = run(wrong);
            assertThat(result.status()).as(wrong).isEqualTo(78);
            assertThat(result.text())
                    .as(wrong)
                    .startsWith("site-serve: error: ")
                    .contains("site-serve.conf: ");
        }
        Files.delete(folder.resolve("site-secret"));
        PackagingCommand.Result without = run("site /a\nrelay a:1\n");
        assertThat(without.status()).isEqualTo(78);
        assertThat(without.text()).contains("site-secret: want this credential of systemd, have none");
        assertThat(PackagingCommand.of(
                                SOURCES.resolve("site-serve").toString(),
                                folder.resolve("none").toString())
                        .run()
                        .text())
                .contains("want the configuration, have nothing readable");
    }
}
