package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.concurrent.Future;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.EnrolledMachine;
import org.cloister.transport.link.RenewalClient;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A host that was off for longer than its certificate was valid, at a real relay: it renews it and nothing else. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class ExpiredHostTest {
    private static final Duration DAY = Duration.ofHours(24);
    private static final CertificateName AUTHORITY = new CertificateName("ca", "desk", CertificateName.SITE);

    @TempDir
    private Path folder;

    private RelayFixture fixture;
    private KeyPair key;

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(Files.createDirectory(folder.resolve("state")));
        key = TestSite.pair(SignatureCurve.P256);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    /** A certificate that expired that long ago. */
    private TlsCredential expired(CertificateName name, KeyPair pair, Duration ago) throws Exception {
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = fixture.site
                .authorityOf(name.project())
                .issue(name, subject, Instant.now().minus(ago).minus(DAY), DAY);
        return TlsCredential.of(pair.getPrivate(), List.of(der));
    }

    private TlsCredential expired() throws Exception {
        return expired(RelayFixture.HOST, key, Duration.ofDays(3));
    }

    private Optional<RelayLink> registered() {
        return fixture.relay.registry().links().stream()
                .filter(link -> link.peer.equals(RelayFixture.HOST))
                .findFirst();
    }

    @Test
    void a_host_renews_its_expired_certificate_and_attaches_with_the_new_one() throws Exception {
        RawAttachStream authority = new RawAttachStream(fixture, fixture.credential(AUTHORITY));
        List<X509Certificate> stored = new CopyOnWriteArrayList<>();
        RenewalClient renewal = new RenewalClient(expired(), fixture.site.anchors(), stored::add, new Random(1));
        try (TestAgent host = new TestAgent(fixture, renewal, fixture.relay.address())) {
            RelayMessage.RenewalRequested request = authority.receive(RelayMessage.RenewalRequested.class);
            assertThat(request.from()).isEqualTo(RelayFixture.HOST);
            assertThat(registered()).as("a link that others could see").isEmpty();
            assertThat(host.attachments).isEmpty();
            EnrolmentRequest parsed = EnrolmentRequest.parse(request.request().toByteArray());
            byte[] fresh = fixture.site.authority.issue(
                    RelayFixture.HOST, SubjectPublicKey.of(parsed.request().key()), Instant.now(), DAY);
            authority.send(new AgentMessage.RenewalAnswered(request.id(), RenewalResult.granted(fresh)));
            host.attachment();
            assertThat(stored).containsExactly(PemCredentialFile.certificate(fresh));
            assertThat(registered().orElseThrow().identity.serial())
                    .isEqualTo(stored.get(0).getSerialNumber());
            assertThat(host.losses).anyMatch(why -> why.contains("had expired and is renewed"));
            assertThat(fixture.metrics.linksForRenewal.getCount()).isEqualTo(1);
        }
    }

    @Test
    void any_other_message_or_stream_ends_the_link() throws Exception {
        for (AgentMessage message : List.of(
                new AgentMessage.Serve(fixture.worker),
                new AgentMessage.Unserve(fixture.worker),
                new AgentMessage.RenewalAnswered(1, RenewalResult.refused(RenewalResult.FAILED)))) {
            RawAttachStream host = new RawAttachStream(fixture, expired());
            host.send(message);
            assertThat(host.link.closeFuture().await(20, TimeUnit.SECONDS))
                    .as("%s", message)
                    .isTrue();
            assertThat(fixture.relay.registry().isServed(fixture.worker)).isFalse();
            awaitRoom();
        }
        for (StreamRequest request : List.of(
                new StreamRequest.Tickets(ProtocolVersions.OURS, Optional.empty()),
                new StreamRequest.Circuit(
                        ProtocolVersions.OURS, fixture.controller, fixture.worker, RelayFixture.POLICY))) {
            RawAttachStream host = new RawAttachStream(fixture, expired());
            host.link.open(request, each -> {});
            assertThat(host.link.closeFuture().await(20, TimeUnit.SECONDS))
                    .as("%s", request)
                    .isTrue();
            awaitRoom();
        }
        assertThat(registered()).isEmpty();
        assertThat(fixture.relay.registry().host("n1")).isEmpty();
    }

    @Test
    void a_host_has_one_such_link_and_all_hosts_together_few() throws Exception {
        RawAttachStream first = new RawAttachStream(fixture, expired());
        long refused = fixture.metrics.linksRefused.getCount();
        Future<ClientLink> second = ClientLink.dial(
                fixture.loops, fixture.relay.address(), expired(), CertifiedPeerVerifier.forRelays(fixture.trustStore));
        second.await(20, TimeUnit.SECONDS);
        assertThat(!second.isSuccess() || second.getNow().closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(fixture.metrics.linksRefused.getCount()).isEqualTo(refused + 1);
        first.link.close();
        awaitRoom();

        RenewalLinks links = new RenewalLinks();
        List<CertificateName> names = new ArrayList<>();
        for (int i = 0; i <= ProtocolLimits.RENEWAL_LINKS; i++) {
            names.add(new CertificateName("n" + i, "host", CertificateName.SITE));
        }
        assertThat(names.stream().filter(links::tryOpen)).hasSize(ProtocolLimits.RENEWAL_LINKS);
        links.close(names.get(0));
        assertThat(links.tryOpen(names.get(ProtocolLimits.RENEWAL_LINKS))).isTrue();
    }

    @Test
    void a_revoked_key_another_role_and_a_certificate_of_too_long_ago_are_refused() throws Exception {
        assertThat(fixture.refuses(expired(RelayFixture.HOST, key, Duration.ofDays(91))))
                .as("91 days")
                .isTrue();
        assertThat(fixture.refuses(expired(fixture.device, key, Duration.ofMinutes(5))))
                .as("a device")
                .isTrue();
        assertThat(fixture.refuses(expired(RelayFixture.RELAY, key, Duration.ofMinutes(5))))
                .as("a relay")
                .isTrue();
        // The list names the key for longer than the certificate's serial number.
        BigInteger number = RevocationList.numberOf(VerificationKey.of(key.getPublic()));
        fixture.deliver(fixture.site.authority.revoke(
                List.of(new CertificateAuthority.Revocation(number, Instant.now())),
                BigInteger.TWO,
                Instant.now(),
                DAY));
        assertThat(fixture.refuses(expired())).as("a revoked key").isTrue();
        assertThat(fixture.metrics.linksForRenewal.getCount()).isZero();
    }

    @Test
    void a_host_starts_with_an_expired_certificate_and_a_relay_does_not() throws Exception {
        Path site = Files.write(
                folder.resolve("site.pem"),
                PemCredentialFile.pem(List.of(PemCredentialFile.certificate(fixture.site.authority.certificate()))));
        assertThat(read(expired(), site, CertificateRole.HOST).name()).isEqualTo(RelayFixture.HOST);
        TlsCredential old = expired(RelayFixture.HOST, key, Duration.ofDays(91));
        assertThatThrownBy(() -> read(old, site, CertificateRole.HOST)).hasMessageContaining("renew it by files");
        TlsCredential relay = expired(RelayFixture.RELAY, key, Duration.ofMinutes(5));
        assertThatThrownBy(() -> read(relay, site, CertificateRole.RELAY)).hasMessageContaining("renew it");
    }

    private EnrolledMachine read(TlsCredential own, Path site, CertificateRole role) throws Exception {
        Path certificate = folder.resolve("own.pem");
        PemCredentialFile.replace(certificate, own.chain());
        String base64 = Base64.getEncoder().encodeToString(own.key().getEncoded());
        Path file = Files.writeString(
                folder.resolve("own.key"), "-----BEGIN PRIVATE KEY-----\n" + base64 + "\n-----END PRIVATE KEY-----\n");
        return EnrolledMachine.read(certificate, file, site, role);
    }

    /** Waits until the relay knows that the host's link has ended. */
    private void awaitRoom() {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (fixture.relay.registry().renewing.count() > 0) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            Thread.onSpinWait();
        }
    }
}
