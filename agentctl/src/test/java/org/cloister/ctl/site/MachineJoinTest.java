package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.ctl.Cli;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands {@code host join} and {@code relay join}, with a site's CA in another folder. */
class MachineJoinTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    @BeforeEach
    void setUp() throws IOException {
        cli = new Cli(folder, "correct horse battery staple");
        Files.createDirectories(folder.resolve("state"));
        Path daemon = Files.writeString(folder.resolve("daemon"), """
                #!/bin/sh
                [ "$1 $2" = "--credentials %1$s/daemon.toml" ] || { echo "daemon: error: odd" >&2; exit 78; }
                printf 'certificate=%1$s/state/own.pem\\nkey=%1$s/state/own.key\\nsite=%1$s/site.pem\\n'
                """.formatted(folder));
        Files.setPosixFilePermissions(daemon, PosixFilePermissions.fromString("rwxr-xr-x"));
        done(cli.runWithSecret("site", "init", "--site", at("ca")));
        enrol("host", "h1");
    }

    @AfterEach
    void tearDown() throws IOException {
        cli.close();
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    private static String done(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
        return result.out();
    }

    private void enrol(String role, String id) throws IOException {
        done(cli.runWithSecret(
                "site",
                "enrol",
                "--site",
                at("ca"),
                "--role",
                role,
                "--relay",
                "127.0.0.1:1",
                "--token",
                at(id + ".token"),
                id));
    }

    /** @param more options, which replace the usual ones */
    private Cli.Result join(String role, String id, String... more) throws IOException {
        Map<String, String> usual = new LinkedHashMap<>();
        usual.put("--token", at(id + ".token"));
        usual.put("--out", at("own.request"));
        usual.put("--daemon", at("daemon"));
        usual.put("--config", at("daemon.toml"));
        usual.put("--user", System.getProperty("user.name"));
        usual.keySet().removeAll(List.of(more));
        List<String> words = new ArrayList<>(List.of(role, "join"));
        usual.forEach((option, value) -> words.addAll(List.of(option, value)));
        words.addAll(List.of(more));
        return cli.run(words.toArray(String[]::new));
    }

    private void issue() throws IOException {
        done(cli.runWithSecret("site", "issue", "--site", at("ca"), at("own.request")));
    }

    private byte[] bytes(String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name));
    }

    @Test
    void a_host_is_enrolled_by_one_command_before_and_after_the_sites_answer() throws IOException {
        assertThat(done(join("host", "h1")))
                .contains("h1.host.site.cloister.internal", "own.request", "agentctl site issue")
                .doesNotContain("token-1");
        assertThat(bytes("site.pem")).isEqualTo(bytes("ca/authority.pem"));
        assertThat(folder.resolve("state/own.pem")).doesNotExist();
        issue();
        assertThat(done(join("host", "h1")))
                .contains("own.pem", "[\"127.0.0.1:1\"] in " + at("daemon.toml"), "enable --now agent-host");
        assertThat(bytes("state/own.pem")).isEqualTo(bytes("own.request.pem"));
        for (String name : List.of("state/own.key", "state/own.pem")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name))))
                    .isEqualTo("rw-------");
            assertThat(Files.getOwner(folder.resolve(name)).getName()).isEqualTo(System.getProperty("user.name"));
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("site.pem"))))
                .isEqualTo("rw-r--r--");
    }

    @Test
    void a_relay_that_cannot_be_reached_is_named_and_the_request_is_written_instead() throws IOException {
        assertThat(done(join("host", "h1")))
                .contains("by files instead: relay 127.0.0.1:1: ", "own.request", "agentctl site issue");
        assertThat(done(join("host", "h1", "--offline")))
                .contains("own.request")
                .doesNotContain("online");
        Path token = folder.resolve("h1.token");
        Files.writeString(
                token,
                Files.readString(token)
                        .replaceFirst("token-certificate=.*\n", "")
                        .replace("cloister-join-2", "cloister-join-1"));
        assertThat(done(join("host", "h1"))).contains("the token is of an earlier version", "own.request");
        issue();
        assertThat(done(join("host", "h1"))).contains("enable --now agent-host");
    }

    @Test
    void an_expired_token_is_told_before_a_relay_is_dialled() throws IOException {
        try (EnrolmentTokenFile token = EnrolmentTokenFile.read(folder.resolve("h1.token"))) {
            Instant late = Instant.now().plus(Duration.ofMinutes(61));
            assertThatThrownBy(() -> new OnlineEnrolment(token, () -> late))
                    .hasMessageContaining("token for h1.host.site.cloister.internal")
                    .hasMessageContaining("agentctl site enrol");
            assertThat(new OnlineEnrolment(token, InstantSource.system())).isNotNull();
        }
    }

    @Test
    void a_relay_finds_the_sites_list_beside_its_certificate_unless_the_list_has_expired() throws IOException {
        enrol("relay", "r1");
        assertThat(done(join("relay", "r1"))).contains("revocations.crl");
        assertThat(bytes("revocations.crl")).isEqualTo(bytes("ca/revocations.crl"));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("revocations.crl"))))
                .isEqualTo("rw-r--r--");
        try (EnrolmentTokenFile token = EnrolmentTokenFile.read(folder.resolve("r1.token"))) {
            JoinedMachine machine = new JoinedMachine(
                    new DaemonCredentialFiles(
                            folder.resolve("own.pem"), folder.resolve("own.key"), folder.resolve("other/site.pem")),
                    Files.getOwner(folder),
                    token.name(),
                    token.siteKey());
            byte[] list = token.list().toByteArray();
            assertThat(machine.putRevocationList(list, Instant.now().plus(Duration.ofHours(25))))
                    .isEmpty();
            list[list.length - 1] ^= 1;
            assertThatThrownBy(() -> machine.putRevocationList(list, Instant.now()))
                    .isInstanceOf(IOException.class);
        }
        assertThat(folder.resolve("other")).doesNotExist();
    }

    @Test
    void a_repeated_step_keeps_the_key_so_that_the_token_is_used_by_one_key() throws IOException {
        done(join("host", "h1"));
        byte[] key = bytes("state/own.key");
        done(join("host", "h1"));
        done(join("host", "h1", "--new-key"));
        assertThat(bytes("state/own.key")).isEqualTo(key);
        issue();
        done(join("host", "h1"));
        done(join("host", "h1"));
        assertThat(bytes("state/own.key")).isEqualTo(key);
        issue();
    }

    @Test
    void a_key_whose_certificate_is_valid_is_replaced_only_by_force() throws IOException {
        done(join("host", "h1"));
        issue();
        done(join("host", "h1"));
        byte[] key = bytes("state/own.key");
        Cli.Result refused = join("host", "h1", "--new-key");
        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains("own.key: its certificate is valid until", "--force");
        assertThat(bytes("state/own.key")).isEqualTo(key);
        done(cli.runWithSecret("site", "revoke", "--site", at("ca"), "h1.host.site.cloister.internal"));
        Files.delete(folder.resolve("h1.token"));
        enrol("host", "h1");
        // The answer of the former key is still beside the request and is not used.
        assertThat(done(join("host", "h1", "--new-key", "--force"))).contains("agentctl site issue");
        assertThat(bytes("state/own.key")).isNotEqualTo(key);
        issue();
        assertThat(done(join("host", "h1"))).contains("enable --now");
        assertThat(bytes("state/own.pem")).isEqualTo(bytes("own.request.pem"));
    }

    @Test
    void an_answer_for_another_key_name_or_site_is_not_installed() throws IOException {
        enrol("host", "h2");
        done(join("host", "h2"));
        issue();
        Files.move(folder.resolve("own.request.pem"), folder.resolve("of-h2.pem"));
        assertThat(join("host", "h1", "--certificate", at("of-h2.pem")).err())
                .contains("want a certificate of h1.host.site.cloister.internal, have one of h2.host");
        Files.delete(folder.resolve("state/own.key"));
        done(join("host", "h2", "--out", at("second.request")));
        assertThat(join("host", "h2", "--certificate", at("of-h2.pem")).err())
                .contains("want a certificate of the key", "have the newest request answered");
        done(cli.runWithSecret("site", "init", "--site", at("ca2")));
        done(cli.runWithSecret(
                "site", "enrol", "--site", at("ca2"), "--role", "host", "--token", at("other.token"), "h2"));
        assertThat(join("host", "other").err()).contains("site.pem: want the certificate of the token's site");
        assertThat(join("host", "other", "--force", "--certificate", at("of-h2.pem"))
                        .err())
                .contains("refused (issuer)");
        assertThat(folder.resolve("state/own.pem")).doesNotExist();
    }

    @Test
    void an_answer_that_ends_no_later_than_the_certificate_in_place_replaces_nothing() throws IOException {
        done(join("host", "h1"));
        issue();
        done(join("host", "h1"));
        Object file = Files.getAttribute(folder.resolve("state/own.pem"), "unix:ino");
        assertThat(done(join("host", "h1", "--certificate", at("own.request.pem"))))
                .contains("enable --now");
        assertThat(Files.getAttribute(folder.resolve("state/own.pem"), "unix:ino"))
                .isEqualTo(file);
    }

    @Test
    void a_token_of_another_role_or_an_older_version_is_refused_by_name() throws IOException {
        enrol("relay", "r1");
        assertThat(join("host", "r1").err()).contains("want a token of a host", "use agentctl relay join");
        String token = Files.readString(folder.resolve("r1.token"))
                .lines()
                .filter(line -> line.startsWith("token="))
                .findFirst()
                .orElseThrow()
                .substring("token=".length());
        Files.writeString(folder.resolve("old.token"), token + "\n");
        assertThat(join("relay", "old").err())
                .contains("want a token with the site's certificate (cloister-join-2)", "agentctl site request")
                .doesNotContain(token.substring(20));
        done(cli.run(
                "site",
                "request",
                "--role",
                "relay",
                "--token",
                at("old.token"),
                "--machine-key",
                at("r1.key"),
                "--out",
                at("r1.request"),
                "r1"));
        done(join("relay", "r1", "--out", at("r1.join")));
    }

    @Test
    void a_daemon_that_cannot_read_its_configuration_stops_it_before_anything_changes() throws IOException {
        assertThat(join("host", "h1", "--config", at("wrong.toml")).err())
                .contains("want the paths of its credentials, have: daemon: error: odd", "correct");
        assertThat(join("host", "h1", "--daemon", at("none")).err()).contains("install the daemon's package first");
        assertThat(join("host", "h1", "--user", "nobody-of-this-name").err())
                .contains("want the daemon's user, have none of this name");
        assertThat(folder.resolve("site.pem")).doesNotExist();
        assertThat(folder.resolve("state")).isEmptyDirectory();
    }
}
