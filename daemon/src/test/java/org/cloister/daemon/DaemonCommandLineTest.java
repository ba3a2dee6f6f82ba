package org.cloister.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.daemon.DaemonCommandLine.CredentialFiles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DaemonCommandLineTest {
    private final DaemonCommandLine line = new DaemonCommandLine("agent-x", Path.of("/etc/x.toml"), "enrol it");
    private final PrintStream usualOut = System.out;
    private final PrintStream usualErr = System.err;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final AtomicBoolean started = new AtomicBoolean();

    @BeforeEach
    void capture() {
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    @AfterEach
    void restore() {
        System.setOut(usualOut);
        System.setErr(usualErr);
    }

    private int run(boolean enrolled, String... args) throws InterruptedException {
        return line.<Path>run(
                args,
                DaemonCommandLineTest::load,
                enrolled
                        ? Optional.of(file -> new CredentialFiles(file, Path.of("/k"), Path.of("/s")))
                        : Optional.empty(),
                config -> started.set(true));
    }

    private static Path load(Path file) throws IOException {
        if (file.endsWith("bad.toml")) {
            throw new InvalidConfigException(List.of("bad.toml:1: odd"));
        }
        return file;
    }

    @Test
    void where_the_credentials_are_is_printed_without_starting_anything() throws InterruptedException {
        assertThat(run(true, "--credentials", "/etc/y.toml")).isZero();
        assertThat(out).hasToString("certificate=/etc/y.toml\nkey=/k\nsite=/s\n");
        assertThat(started).isFalse();
        assertThat(run(true, "--credentials")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).endsWith("certificate=/etc/x.toml\nkey=/k\nsite=/s\n");
    }

    @Test
    void a_wrong_configuration_names_no_file() throws InterruptedException {
        assertThat(run(true, "--credentials", "/etc/bad.toml")).isEqualTo(78);
        assertThat(out.size()).isZero();
        assertThat(err).hasToString("agent-x: error: bad.toml:1: odd\n");
    }

    @Test
    void a_daemon_that_is_not_enrolled_has_no_such_option() throws InterruptedException {
        assertThat(run(false, "--credentials")).isEqualTo(64);
        assertThat(err).hasToString("usage: agent-x [--check] [FILE]\n");
        assertThat(run(true, "--check", "--credentials")).isEqualTo(64);
    }

    @Test
    void without_an_option_it_runs() throws InterruptedException {
        assertThat(run(true, "--check")).isZero();
        assertThat(started).isFalse();
        assertThat(run(true)).isZero();
        assertThat(started).isTrue();
    }
}
