package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.ctl.Cli;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.systemd.SystemdTree;
import org.cloister.ctl.systemd.WritableFolder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code site serve --install} with systemd's own systemd-creds, in a tree that stands for the machine. */
class SiteServeInstallTest {
    private static final String SECRET = "correct horse battery staple";
    private static final String UNIT = "cloister-site-serve.service";
    private static final String CONF = "etc/cloister/site-serve.conf";
    private static final String CREDENTIAL = "etc/cloister/site-secret.cred";
    private static final String DROP_IN = "etc/systemd/system/cloister-site-serve.service.d/site.conf";

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path site;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    record Result(int status, String out, String err) {}

    @BeforeEach
    void setUp() throws IOException {
        cli = new Cli(folder, SECRET);
        site = folder.toRealPath().resolve("ca");
        assertThat(cli.runWithSecret("site", "init", "--site", site.toString()).status())
                .isZero();
    }

    @AfterEach
    void tearDown() throws IOException {
        cli.close();
    }

    private SystemdTree machine() throws IOException {
        return SystemdTree.running(Files.createDirectory(folder.resolve("machine")))
                .with(UNIT);
    }

    private Result install(SystemdTree machine, String secret, String... more) throws IOException {
        Path typed = Files.writeString(folder.resolve("typed"), secret);
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        try (FileInputStream in = new FileInputStream(typed.toFile())) {
            assertThat(in.available()).isPositive();
            List<String> words = Stream.concat(
                            Stream.of(
                                    "--install",
                                    "--site",
                                    site.toString(),
                                    "--relay",
                                    "r1.example.org:7443",
                                    "--secret-fd",
                                    Cli.descriptor(typed)),
                            Stream.of(more))
                    .toList();
            int status = new CommandLine(new SiteServeCommand(machine.units()))
                    .setOut(new PrintWriter(out))
                    .setErr(new PrintWriter(err))
                    .setExecutionExceptionHandler((e, command, parsed) -> {
                        command.getErr().println(e.getMessage());
                        return 2;
                    })
                    .execute(words.toArray(String[]::new));
            return new Result(status, out.toString(), err.toString());
        }
    }

    private static String decrypted(SystemdTree machine) throws IOException {
        return machine.units()
                .programs()
                .runChecked(
                        "systemd-creds",
                        "decrypt",
                        "--name=site-secret",
                        machine.root().resolve(CREDENTIAL).toString(),
                        "-");
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void the_unit_is_configured_gets_the_secret_encrypted_and_is_started() throws IOException {
        SystemdTree machine = machine();
        Result result = install(machine, SECRET + "\n", "--relay", "[2001:db8::1]:7443");
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        assertThat(machine.root().resolve(CONF)).hasContent("""
                # Written by agentctl site serve --install.
                site %s
                relay r1.example.org:7443
                relay [2001:db8::1]:7443
                """.formatted(site));
        assertThat(decrypted(machine)).isEqualTo(SECRET + "\n");
        assertThat(mode(machine.root().resolve(CREDENTIAL))).isEqualTo("rw-------");
        assertThat(machine.root().resolve(DROP_IN)).content().contains("[Service]\nReadWritePaths=" + site + "\n");
        assertThat(machine.calls()).containsExactly("daemon-reload", "enable --quiet " + UNIT, "restart " + UNIT);
        assertThat(result.out()).contains("started").doesNotContain(SECRET);
        try (Stream<Path> files = Files.walk(machine.root())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(SECRET);
            }
        }
    }

    @Test
    void the_units_program_accepts_what_was_written() throws IOException, InterruptedException {
        SystemdTree machine = machine();
        assertThat(install(machine, SECRET + "\n\n").err()).contains("want its passphrase");
        assertThat(install(machine, SECRET).status()).isZero();
        Path credentials = Files.createDirectory(folder.resolve("credentials"));
        Files.writeString(credentials.resolve("site-secret"), decrypted(machine));
        Path agentctl = Files.writeString(folder.resolve("agentctl"), "#!/bin/sh\necho \"$@\"\ncat <&3\n");
        Files.setPosixFilePermissions(agentctl, PosixFilePermissions.fromString("rwxr-xr-x"));
        ProcessBuilder program = new ProcessBuilder(
                "../packaging/src/agentctl/site-serve",
                machine.root().resolve(CONF).toString());
        program.environment().put("CREDENTIALS_DIRECTORY", credentials.toString());
        program.environment().put("AGENTCTL", agentctl.toString());
        Process process = program.redirectErrorStream(true).start();
        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo(
                        "site serve --site " + site + " --relay r1.example.org:7443 --secret-fd 3\n" + SECRET + "\n");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void a_wrong_passphrase_or_key_changes_nothing() throws IOException {
        SystemdTree machine = machine();
        assertThat(install(machine, "another\n").status()).isEqualTo(2);
        Path other = folder.toRealPath().resolve("other");
        assertThat(cli.runWithSecret("site", "init", "--site", other.toString()).status())
                .isZero();
        assertThat(install(machine, SECRET, "--key", other.resolve("key.json").toString())
                        .err())
                .contains("want the key in the CA's folder", "leave out --key");
        Files.copy(other.resolve("key.json"), site.resolve("key.json"), StandardCopyOption.REPLACE_EXISTING);
        assertThat(install(machine, SECRET).err()).contains("name the right key");
        assertThat(machine.root().resolve("etc/cloister")).doesNotExist();
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void without_the_unit_or_where_it_cannot_look_nothing_is_asked_and_nothing_changes() throws IOException {
        SystemdTree bare = SystemdTree.running(Files.createDirectory(folder.resolve("bare")));
        assertThat(install(bare, SECRET).err()).contains("install the package cloister-agentctl");
        SystemdTree machine = machine();
        Path hidden = machine.root().toRealPath().resolve("root/ca");
        Files.createDirectories(hidden.resolveSibling("."));
        Files.move(site, hidden);
        site = hidden;
        assertThat(install(machine, SECRET).err()).contains("which the unit hides");
        assertThat(machine.root().resolve("etc/cloister")).doesNotExist();
    }

    @Test
    void it_may_be_repeated_with_other_relays() throws IOException {
        SystemdTree machine = machine();
        Files.createDirectories(machine.root().resolve("etc/cloister"));
        Files.writeString(machine.root().resolve(CONF), "site /old\nrelay old:1\n");
        assertThat(install(machine, SECRET).status()).isZero();
        assertThat(install(machine, SECRET, "--relay", "r2:7443").status()).isZero();
        assertThat(machine.root().resolve(CONF))
                .content()
                .contains("relay r2:7443")
                .doesNotContain("old");
        assertThat(machine.calls()).hasSize(6);
    }

    @Test
    void where_systemd_does_not_run_its_own_systemctl_enables_the_unit() throws IOException {
        SystemdTree machine = SystemdTree.offline(Files.createDirectory(folder.resolve("machine")))
                .with(UNIT);
        Result result = install(machine, SECRET);
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("systemd does not run here");
        assertThat(machine.root().resolve("etc/systemd/system/multi-user.target.wants/" + UNIT))
                .isSymbolicLink();
    }

    @Test
    void a_systemd_creds_that_fails_is_reported_and_the_unit_is_not_configured() throws IOException {
        SystemdTree machine = machine();
        Path fails = Files.writeString(
                machine.root().resolve("bin/systemd-creds"), "#!/bin/sh\necho 'No host key.' >&2\nexit 1\n");
        Files.setPosixFilePermissions(fails, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(install(machine, SECRET).err())
                .contains("cannot encrypt site-secret: No host key.")
                .doesNotContain(SECRET);
        assertThat(machine.root().resolve(CONF)).doesNotExist();
        assertThat(machine.calls()).isEmpty();
    }

    @Test
    void a_key_on_a_token_is_named_by_words_that_the_program_passes_on() throws IOException {
        WritableFolder folder = new WritableFolder(Path.of("/var/lib/cloister/site"));
        KeyLocation.File usual = SiteCaFolder.keyFile(folder.path());
        assertThat(SiteServeUnit.configuration(
                        folder, usual, new KeyLocation.Token("/usr/lib/p11.so", 1, "ca"), List.of("r:1")))
                .endsWith("site /var/lib/cloister/site\nrelay r:1\nmodule /usr/lib/p11.so\nslot 1\nalias ca\n");
        for (String alias : List.of("my ca", "ca\n", "c\\a", "")) {
            assertThatThrownBy(() -> SiteServeUnit.configuration(
                            folder, usual, new KeyLocation.Token("/usr/lib/p11.so", 1, alias), List.of("r:1")))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("--alias: want one word");
        }
    }
}
