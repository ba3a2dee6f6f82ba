package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.relay.NotifySocket;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The relay as a process of its own, with agents in this one: how it starts, ends, is killed and comes back. */
@Timeout(150)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class RelayServerProcessTest {
    @TempDir
    private Path folder;

    private RelayFixture fixture;
    private int port;
    private Path config;
    private Path socket;
    private Path words;

    @BeforeEach
    void install() throws Exception {
        fixture = new RelayFixture(Files.createDirectory(folder.resolve("other")));
        port = RelayServerProcess.freePort();
        config = fixture.install(folder, "listen = \"127.0.0.1:" + port + "\"\n[limits]\ndrain = 1\n");
        socket = folder.resolve("agent-relay.sock");
        words = folder.resolve("words");
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    private InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Test
    void systemd_hears_when_it_listens_and_when_it_stops() throws Exception {
        try (NotifySocket systemd = new NotifySocket(folder.resolve("notify"));
                RelayServerProcess relay = RelayServerProcess.start(
                        words, Map.of("NOTIFY_SOCKET", systemd.path.toString()), List.of(), config.toString())) {
            systemd.await("READY=1");
            relay.deliverDocuments(socket, fixture.site);
            try (TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), address())) {
                assertThat(host.attachment()).isNotNull();
                assertThat(RelayServerProcess.request(socket, "GET /readyz")).startsWith("HTTP/1.1 200");
                assertThat(systemd.rest()).doesNotContain("STOPPING=1");
                relay.terminate();
                systemd.await("STOPPING=1");
                assertThat(host.losses.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS))
                        .contains("draining");
            }
            assertThat(relay.status()).as("128 + SIGTERM").isEqualTo(143);
            assertThat(socket).as("after an orderly end").doesNotExist();
        }
    }

    @Test
    void nothing_is_said_to_systemd_by_a_relay_that_cannot_serve() throws Exception {
        Files.writeString(folder.resolve("relay/relay.key"), "no key");
        try (NotifySocket systemd = new NotifySocket(folder.resolve("notify"));
                RelayServerProcess relay = RelayServerProcess.start(
                        words, Map.of("NOTIFY_SOCKET", systemd.path.toString()), List.of(), config.toString())) {
            assertThat(relay.status()).isEqualTo(1);
            assertThat(relay.output())
                    .isEqualTo("agent-relay: error: " + folder.resolve("relay/relay.key")
                            + ": want one private key in PKCS #8 PEM, have none\n");
            assertThat(systemd.rest()).isEmpty();
        }
    }

    @Test
    void every_problem_of_a_configuration_is_said_with_its_line_and_restarting_is_no_use() throws Exception {
        Files.writeString(config, "listen = \"here\"\nlinks = 3\n[limits]\nidle = -1\n");
        try (RelayServerProcess relay = RelayServerProcess.start(words, config)) {
            assertThat(relay.status()).as("the unit's RestartPreventExitStatus").isEqualTo(78);
            assertThat(relay.output().lines())
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .startsWith("agent-relay: error: " + config + ":1: listen: want ADDRESS"),
                            line -> assertThat(line)
                                    .startsWith("agent-relay: error: " + config + ":2: links: unknown key"),
                            line -> assertThat(line).endsWith(config + ":4: limits.idle: want 1 to 86400, have -1"));
        }
    }

    @Test
    void files_that_are_not_there_are_named() throws Exception {
        try (RelayServerProcess relay = RelayServerProcess.start(words, folder.resolve("none.toml"))) {
            assertThat(relay.status()).isEqualTo(78);
            assertThat(relay.output()).contains("none.toml: no such file");
        }
        Files.delete(folder.resolve("relay/relay.pem"));
        try (RelayServerProcess relay = RelayServerProcess.start(words, config)) {
            assertThat(relay.status()).isEqualTo(1);
            assertThat(relay.output()).contains(folder.resolve("relay/relay.pem") + ": no such file");
        }
    }

    @Test
    void an_sbatch_without_an_option_of_tickets_is_told_by_readiness_until_it_is_replaced() throws Exception {
        Path programs = Files.createDirectory(folder.resolve("slurm"));
        sbatch(programs, "echo \"sbatch: unrecognized option '--propagate=NONE'\" >&2; exit 255");
        Files.writeString(
                config,
                Files.readString(config) + "[slurm]\npartition = \"secure\"\nlook = 1\nprograms = \"" + programs
                        + "\"\n");
        try (RelayServerProcess relay = RelayServerProcess.start(words, config).serving(port)) {
            awaitReadiness("HTTP/1.1 503", "sbatch: unrecognized option '--propagate=NONE'; each ticket would fail");
            assertThat(RelayServerProcess.request(socket, "GET /status")).contains("\"ready\":false");
            sbatch(programs, "echo slurm 26.05.5");
            awaitReadiness("HTTP/1.1 200", "ready");
            assertThat(relay.isAlive()).isTrue();
        }
        assertThat(Files.readString(words)).containsOnlyOnce("not ready for tickets: sbatch: unrecognized option");
    }

    private static void sbatch(Path programs, String body) throws IOException {
        Path next = Files.writeString(programs.resolve("next"), "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(next, programs.resolve("sbatch"), StandardCopyOption.REPLACE_EXISTING);
    }

    private void awaitReadiness(String status, String text) throws Exception {
        String answer = "";
        for (int i = 0; i < 300; i++) {
            // The socket is there a moment after the port.
            answer = Files.exists(socket) ? RelayServerProcess.request(socket, "GET /readyz") : "";
            if (answer.startsWith(status) && answer.contains(text)) {
                return;
            }
            Thread.sleep(100);
        }
        assertThat(answer).startsWith(status).contains(text);
    }

    @Test
    void agents_come_back_by_themselves_to_a_relay_that_was_killed_and_revocations_still_act() throws Exception {
        TlsCredential bad = fixture.credential(RelayFixture.OTHER_HOST);
        TestAgent revoked;
        try (TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), address())) {
            try (RelayServerProcess first =
                    RelayServerProcess.start(words, config).serving(port).deliverDocuments(socket, fixture.site)) {
                revoked = new TestAgent(fixture, bad, address());
                revoked.attachment();
                RelayServerProcess.request(socket, "POST /deliveries", TestSite.list(fixture.site.authority, 2, bad));
                assertThat(revoked.losses.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS))
                        .isNotNull();
                revoked.close();
                CircuitRecorder opened = CircuitRecorder.keeping();
                circuitWorks(host, opened);
                first.kill();
                assertThat(opened.awaitFailure()).as("the open circuit").isNotNull();
            }
            assertThat(socket).as("left over by a relay that was killed").exists();
            try (RelayServerProcess second =
                    RelayServerProcess.start(words, config).serving(port)) {
                circuitWorks(host, CircuitRecorder.keeping());
                try (TestAgent again = new TestAgent(fixture, bad, address())) {
                    assertThat(again.losses.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS))
                            .isNotNull();
                    assertThat(again.attachments).isEmpty();
                }
                assertThat(RelayServerProcess.request(socket, "GET /status")).contains("\"revocation_lists\":3");
                assertThat(second.isAlive()).isTrue();
            }
        }
    }

    @Test
    void the_sites_list_beside_its_certificate_is_in_force_from_the_start_and_a_bad_or_older_one_stops_nothing()
            throws Exception {
        TlsCredential bad = fixture.credential(RelayFixture.OTHER_HOST);
        Path list = folder.resolve("revocations.crl");
        List<byte[]> contents = List.of(
                TestSite.list(fixture.site.authority, 5, bad),
                TestSite.list(fixture.site.authority, 4),
                TestSite.list(fixture.site.a.authority, 6),
                "no list".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        for (byte[] content : contents) {
            Files.write(list, content);
            try (RelayServerProcess relay =
                            RelayServerProcess.start(words, config).serving(port);
                    TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), address());
                    TestAgent revoked = new TestAgent(fixture, bad, address())) {
                assertThat(host.attachment()).isNotNull();
                assertThat(revoked.losses.poll(RelayServerProcess.WAIT_S, TimeUnit.SECONDS))
                        .isNotNull();
                assertThat(revoked.attachments).isEmpty();
                assertThat(relay.isAlive()).isTrue();
            }
        }
        assertThat(Files.readString(words))
                .containsOnlyOnce("accepted revocation list 5")
                .contains("revocation list not used file=" + list);
    }

    @Test
    void a_second_relay_takes_neither_the_port_nor_the_socket_of_a_living_one() throws Exception {
        try (RelayServerProcess first = RelayServerProcess.start(words, config).serving(port)) {
            String own = Files.readString(config);
            String elsewhere = own.replace(
                    "state = \"" + folder.resolve("relay"),
                    "state = \"" + Files.createDirectory(folder.resolve("elsewhere")));
            String otherPort = elsewhere.replace(":" + port, ":" + RelayServerProcess.freePort());
            secondFailsWith(own, "state folder " + folder.resolve("relay") + ": another process has locked it");
            secondFailsWith(elsewhere, "cannot listen on /127.0.0.1:" + port, "in use", "ss -ltnp");
            secondFailsWith(otherPort, socket + ": another process listens on it");
            assertThat(RelayServerProcess.request(socket, "GET /readyz")).startsWith("HTTP/1.1 200");
            assertThat(first.isAlive()).isTrue();
        }
    }

    /** The host serves a VM as soon as it is attached, and a member reaches it. */
    private void circuitWorks(TestAgent host, CircuitRecorder opened) throws Exception {
        CircuitRecorder echo = CircuitRecorder.echoing();
        assertThat(host.serve(
                        host.attachment(),
                        fixture.controller,
                        fixture.credential(fixture.controller),
                        echo.application()))
                .isEmpty();
        ClientLink device = RelayFixture.get(ClientLink.dial(
                fixture.loops,
                address(),
                fixture.credential(fixture.device),
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY)));
        RelayFixture.get(Circuit.open(
                device,
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                opened.application()));
        opened.send(new byte[100_000]);
        assertThat(opened.await(100_000)).hasSize(100_000);
    }

    private void secondFailsWith(String configuration, String... words) throws Exception {
        Path other = Files.writeString(folder.resolve("second.toml"), configuration);
        try (RelayServerProcess second = RelayServerProcess.start(folder.resolve("second"), other)) {
            assertThat(second.status()).isEqualTo(1);
            assertThat(second.output()).contains(words);
        }
    }
}
