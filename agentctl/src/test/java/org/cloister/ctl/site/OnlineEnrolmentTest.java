package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.Cli;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.tls.PemCredentialFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code host join} at a relay of its site that lies: it learns no token and can only delay. */
@Timeout(120)
@SuppressWarnings("NullAway") // JUnit sets the fields
class OnlineEnrolmentTest {
    @TempDir
    private Path folder;

    private Cli cli;
    private LoopbackAttachRelay relay;

    @BeforeEach
    void setUp() throws Exception {
        cli = new Cli(folder, "correct horse battery staple");
        done(cli.runWithSecret("site", "init", "--site", at("ca")));
        FileEnrolment.run(cli, this::at, "relay", "r1");
        FileEnrolment.run(cli, this::at, "host", "h2");
        Path daemon = Files.writeString(
                folder.resolve("daemon"),
                "#!/bin/sh\nprintf 'certificate=%1$s/own.pem\\nkey=%1$s/own.key\\nsite=%1$s/site.pem\\n'\n"
                        .formatted(folder));
        assertThat(daemon.toFile().setExecutable(true)).isTrue();
        byte[] list = Files.readAllBytes(folder.resolve("ca/revocations.crl"));
        TrustStore store = new TrustStore(
                TrustAnchors.none()
                        .withSite(List.of(EnrolmentTokenFile.read(folder.resolve("r1.token"))
                                .siteKey())),
                RevocationLists.none(),
                InstantSource.system());
        store.addRevocationList(list);
        relay = new LoopbackAttachRelay(
                PemCredentialFile.read(folder.resolve("r1.pem"), folder.resolve("r1.key")),
                CertifiedPeerVerifier.forAgents(store));
        relay.lists = List.of(list);
        done(cli.runWithSecret(
                "site",
                "enrol",
                "--site",
                at("ca"),
                "--role",
                "host",
                "--relay",
                relay.address(),
                "--token",
                at("h1.token"),
                "h1"));
    }

    @AfterEach
    void tearDown() throws IOException {
        relay.close();
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

    private Cli.Result join() throws IOException {
        return cli.run(
                "host",
                "join",
                "--token",
                at("h1.token"),
                "--out",
                at("h1.request"),
                "--daemon",
                at("daemon"),
                "--user",
                System.getProperty("user.name"));
    }

    /** Returns what the command prints when the relay gives this answer to its request. */
    private Cli.Result joinAnswered(RenewalResult answer) throws Exception {
        CompletableFuture<Cli.Result> joined = CompletableFuture.supplyAsync(() -> {
            try {
                return join();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        AgentMessage.Renew request = relay.receive(AgentMessage.Renew.class);
        String token = Files.readString(folder.resolve("h1.token"))
                .replaceFirst("(?s).*\ntoken=cloister-token-1:([0-9a-f]{64})\n.*", "$1");
        assertThat(token).hasSize(64);
        assertThat(request.request().toString(StandardCharsets.ISO_8859_1)).doesNotContain(token);
        assertThat(EnrolmentRequest.parse(request.request().toByteArray()).hasProof())
                .isTrue();
        relay.send(new RelayMessage.Renewed(answer));
        return joined.get(60, TimeUnit.SECONDS);
    }

    @Test
    void a_swapped_or_altered_answer_is_not_installed_and_the_request_is_written() throws Exception {
        byte[] other = Pem.read(folder.resolve("h2.pem"), Pem.CERTIFICATE);
        byte[] altered = other.clone();
        altered[altered.length - 1] ^= 1;
        for (byte[] each : List.of(other, altered, new byte[] {1})) {
            assertThat(done(joinAnswered(RenewalResult.granted(each)))).contains("by files instead", "h1.request");
            assertThat(folder.resolve("own.pem")).doesNotExist();
        }
        done(cli.runWithSecret("site", "issue", "--site", at("ca"), at("h1.request")));
        assertThat(done(join())).contains("enable --now agent-host");
    }

    @Test
    void a_refusal_of_the_token_is_an_error_that_says_what_to_do_and_another_one_is_not() throws Exception {
        for (String refused : List.of("unknown", "proof", "expired", "revoked")) {
            Cli.Result result = joinAnswered(RenewalResult.refused(refused));
            assertThat(result.status()).isEqualTo(2);
            assertThat(result.err()).contains("refused (" + refused + ")", "make another (agentctl site enrol)");
        }
        assertThat(joinAnswered(RenewalResult.refused("copied")).err()).contains("another key has used this token");
        assertThat(folder.resolve("h1.request")).doesNotExist();
        for (String refused : List.of("no-desk", "no-answer", "limit", "failed", "number")) {
            assertThat(done(joinAnswered(RenewalResult.refused(refused))))
                    .contains("refused (" + refused + ")", "h1.request");
        }
    }

    @Test
    void a_relay_that_withholds_the_sites_list_is_not_used() throws Exception {
        relay.lists = List.of();
        assertThat(done(join())).contains("by files instead", "refused (list)");
    }
}
