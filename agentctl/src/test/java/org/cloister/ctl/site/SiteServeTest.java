package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import org.cloister.ctl.Cli;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.RenewalClient;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The desk as a command, with its CA's folder in use by others. */
@Timeout(240)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class SiteServeTest {
    private static final CertificateName HOST = new CertificateName("h1", "host", CertificateName.SITE);

    @TempDir
    private Path folder;

    private Cli cli;

    @BeforeEach
    void open() throws IOException {
        cli = new Cli(folder, "correct horse battery staple");
        out(cli.runWithSecret("site", "init", "--site", at("ca")));
    }

    @AfterEach
    void close() throws IOException {
        cli.close();
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    private static void out(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
    }

    private TlsCredential machine(String id) throws IOException {
        return PemCredentialFile.read(folder.resolve(id + ".pem"), folder.resolve(id + ".key"));
    }

    private TrustAnchors site() throws IOException {
        CertificateAuthority authority = CertificateAuthority.load(
                Pem.read(folder.resolve("ca/authority.pem"), Pem.CERTIFICATE),
                message -> message,
                new java.security.SecureRandom());
        return TrustAnchors.none().withSite(List.of(authority.key()));
    }

    private CertifiedPeerVerifier desks() throws IOException {
        return CertifiedPeerVerifier.forAgents(new TrustStore(site(), RevocationLists.none(), InstantSource.system()));
    }

    private RevocationList list(AgentMessage.DeliverRevocations delivery) throws IOException {
        return RevocationList.read(delivery.signed().toByteArray(), site().of(CertificateName.SITE));
    }

    @Test
    void answers_delivers_and_leaves_the_folder_to_others() throws Exception {
        FileEnrolment.run(cli, this::at, "relay", "r1");
        FileEnrolment.run(cli, this::at, "host", "h1");
        TlsCredential host = machine("h1");
        var request = new RenewalClient(host, site(), fresh -> {}, new Random(1))
                .nextRequest(Instant.now().plus(Duration.ofHours(20)))
                .orElseThrow();
        try (LoopbackAttachRelay relay = new LoopbackAttachRelay(machine("r1"), desks())) {
            Cli.Result[] ended = new Cli.Result[1];
            Thread thread = new Thread(() -> {
                try {
                    ended[0] = cli.runWithSecret("site", "serve", "--site", at("ca"), "--relay", relay.address());
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            thread.start();
            AgentMessage.DeliverRevocations first = relay.receive(AgentMessage.DeliverRevocations.class);
            assertThat(list(first).serials()).isEmpty();
            relay.confirm(first);
            relay.send(new RelayMessage.RenewalRequested(1, HOST, request));
            AgentMessage.RenewalAnswered answer = relay.receive(AgentMessage.RenewalAnswered.class);
            assertThat(answer.outcome().certificate().toByteArray())
                    .as("the certificate that is young yet")
                    .isEqualTo(host.chain().get(0).getEncoded());
            out(cli.runWithSecret("site", "revoke", "--site", at("ca"), HOST.toString()));
            RevocationList list = list(relay.receive(AgentMessage.DeliverRevocations.class));
            X509Certificate leaf = host.chain().get(0);
            assertThat(list.serials()).hasSize(3).contains(leaf.getSerialNumber());
            assertThat(list.certificates()).as("its token's too").isEqualTo(2);
            assertThat(list.revokes(VerificationKey.of(leaf.getPublicKey()))).isTrue();
            relay.send(new RelayMessage.RenewalRequested(2, HOST, request));
            assertThat(relay.receive(AgentMessage.RenewalAnswered.class)
                            .outcome()
                            .refused())
                    .isEqualTo("revoked");
            thread.interrupt();
            thread.join();
            assertThat(ended[0].err()).isEmpty();
            assertThat(ended[0].out()).contains("attached to " + relay.address(), "has list", "refused (revoked)");
        }
    }

    @Test
    void wants_addresses_of_relays_and_the_CAs_own_key() throws Exception {
        for (String wrong : List.of("relay", "relay:", ":7443", "relay:0", "relay:65536", "relay:x")) {
            Cli.Result result = cli.runWithSecret("site", "serve", "--site", at("ca"), "--relay", wrong);
            assertThat(result.status()).isEqualTo(64);
            assertThat(result.err()).contains("--relay", "want HOST:PORT, have " + wrong);
        }
        Files.delete(folder.resolve("ca/key.json"));
        assertThat(cli.runWithSecret("site", "serve", "--site", at("ca"), "--relay", "relay:7443")
                        .status())
                .isEqualTo(2);
    }
}
