package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.authority.AuthorityLinkCredential;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.RenewalRequest;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.links.RawAttachStream;
import org.cloister.relay.links.RelayCertificateRenewal;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.RelayLink;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.links.TestSite;
import org.cloister.transport.link.RenewalClient;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of 24 hours that nobody carries: hosts, a relay and the site's desk over loopback. */
@Timeout(60)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class RenewalForwarderTest {
    /** More than half of it is over at once: a certificate begins two minutes before it is issued. */
    private static final Duration SHORT = Duration.ofSeconds(55);

    private static final Duration DAY = Duration.ofHours(23);

    @TempDir
    private Path folder;

    private Path enrolments;
    private RelayFixture relays;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        enrolments = Files.createDirectory(folder.resolve("enrolments"));
        relays = new RelayFixture(Files.createDirectory(folder.resolve("state")));
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        relays.close();
    }

    private TestRegistrationAuthority desk() throws IOException {
        TestRegistrationAuthority authority = new TestRegistrationAuthority(relays, enrolments);
        open.add(authority);
        return authority;
    }

    private KeyPair enrolled(CertificateName name) throws Exception {
        KeyPair key = TestSite.pair(SignatureCurve.P256);
        TestRegistrationAuthority.enrol(enrolments, name, key);
        return key;
    }

    private RenewalClient renewal(CertificateName name, KeyPair key, RenewalClient.CertificateStore store)
            throws Exception {
        return new RenewalClient(relays.site.credential(name, key, SHORT), relays.site.anchors(), store, new Random(1));
    }

    private TestAgent host(RenewalClient renewal) {
        TestAgent host = new TestAgent(relays, renewal, relays.relay.address());
        open.add(host);
        return host;
    }

    private static <T> T next(java.util.concurrent.BlockingQueue<T> queue, String what) throws InterruptedException {
        return TestAgent.require(queue.poll(30, TimeUnit.SECONDS), what);
    }

    private RelayLink link(CertificateName peer) {
        return relays.relay.registry().links().stream()
                .filter(each -> each.peer.equals(peer))
                .findFirst()
                .orElseThrow();
    }

    private static ByteString request(CertificateName name, KeyPair key) throws Exception {
        return ByteString.copyFrom(RenewalRequest.make(name, SigningKey.of(key)));
    }

    private RenewalResult query(RawAttachStream agent, ByteString request) throws InterruptedException {
        agent.send(new AgentMessage.Renew(request));
        return agent.receive(RelayMessage.Renewed.class).outcome();
    }

    private void awaitDesk() {
        await(() -> relays.relay.renewals().hasAuthority());
    }

    private static void await(java.util.function.BooleanSupplier condition) {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void a_hosts_certificate_is_renewed_kept_and_shown_in_its_next_handshake() throws Exception {
        Path file = folder.resolve("host.pem");
        RenewalClient renewal = renewal(
                RelayFixture.HOST,
                enrolled(RelayFixture.HOST),
                fresh -> PemCredentialFile.replace(file, List.of(fresh)));
        desk();
        awaitDesk();
        TestAgent host = host(renewal);
        host.attachment();
        assertThat(next(host.renewals, "renewal; refused: " + host.refusals))
                .isAfter(Instant.now().plus(DAY));
        assertThat(PemCredentialFile.certificates(file)).isEqualTo(renewal.get().chain());
        link(RelayFixture.HOST).close().sync();
        host.attachment();
        assertThat(link(RelayFixture.HOST).identity.serial())
                .isEqualTo(renewal.get().chain().get(0).getSerialNumber());
    }

    @Test
    void a_desk_that_was_away_is_asked_again_when_it_is_back() throws Exception {
        TestAgent host = host(renewal(RelayFixture.HOST, enrolled(RelayFixture.HOST), fresh -> {}));
        assertThat(next(host.refusals, "refusal")).endsWith("refused (no-desk)");
        desk();
        assertThat(next(host.renewals, "renewal; refused: " + host.refusals))
                .isAfter(Instant.now().plus(DAY));
    }

    @Test
    void a_revoked_host_is_ended_by_the_desks_list_and_gets_no_certificate() throws Exception {
        KeyPair key = enrolled(RelayFixture.HOST);
        RenewalClient renewal = renewal(RelayFixture.HOST, key, fresh -> {});
        TestRegistrationAuthority authority = desk();
        awaitDesk();
        TestAgent host = host(renewal);
        next(host.renewals, "renewal");
        link(RelayFixture.HOST).close().sync();
        next(host.losses, "loss");
        host.attachment();
        RawAttachStream other = new RawAttachStream(relays, relays.credential(RelayFixture.HOST));
        authority.revoke(RelayFixture.HOST);
        assertThat(next(host.losses, "end of the revoked link")).isNotNull();
        assertThat(query(other, request(RelayFixture.HOST, key)).refused()).isEqualTo("revoked");
    }

    @Test
    void the_desks_list_reaches_the_relay_and_who_is_attached() throws Exception {
        TestAgent host = relays.agent(RelayFixture.HOST);
        open.add(host);
        host.attachment();
        host.revocations.clear();
        desk();
        byte[] list = next(host.revocations, "list").toByteArray();
        assertThat(RevocationList.read(list, List.of(relays.site.authority.key()))
                        .number())
                .isEqualTo(2);
    }

    @Test
    void a_list_that_the_relay_has_is_not_delivered_again_when_the_desk_comes_back() throws Exception {
        long before = delivered();
        desk();
        await(() -> delivered() == before + 1);
        awaitDesk();
        link(AuthorityLinkCredential.NAME).close().sync();
        await(() -> !relays.relay.renewals().hasAuthority());
        awaitDesk();
        // The desk looks each second, and delivers another list after 6 s at the earliest.
        Thread.sleep(8_000);
        assertThat(delivered()).isEqualTo(before + 1);
    }

    private long delivered() {
        return relays.metrics
                .registry()
                .counter("cloister.relay.deliveries.taken")
                .getCount();
    }

    @Test
    void nobody_gets_a_certificate_for_another_key_or_name() throws Exception {
        KeyPair key = enrolled(RelayFixture.HOST);
        enrolled(RelayFixture.OTHER_HOST);
        TestRegistrationAuthority authority = desk();
        awaitDesk();
        KeyPair thief = TestSite.pair(SignatureCurve.P256);
        RawAttachStream first = new RawAttachStream(relays, relays.site.credential(RelayFixture.HOST, key, SHORT));
        assertThat(query(first, request(RelayFixture.OTHER_HOST, key)).refused())
                .isEqualTo("name");
        assertThat(authority.certified.get()).isZero();
        RawAttachStream second = new RawAttachStream(relays, relays.site.credential(RelayFixture.HOST, thief, SHORT));
        assertThat(query(second, request(RelayFixture.HOST, thief)).refused()).isEqualTo("proof");
        RawAttachStream third = new RawAttachStream(relays, relays.site.credential(RelayFixture.HOST, key, SHORT));
        assertThat(query(third, ByteString.copyFromUtf8("{}")).refused()).isEqualTo("malformed");
        RawAttachStream person = new RawAttachStream(relays, relays.credential(relays.device));
        assertThat(query(person, request(RelayFixture.HOST, key)).refused()).isEqualTo("not-allowed");
        RawAttachStream nobody =
                new RawAttachStream(relays, relays.credential(new CertificateName("n9", "host", "site")));
        assertThat(query(nobody, request(new CertificateName("n9", "host", "site"), thief))
                        .refused())
                .isEqualTo("unknown");
    }

    @Test
    void a_flood_of_requests_is_one_for_the_desk_and_ends_at_the_limit() throws Exception {
        KeyPair key = enrolled(RelayFixture.HOST);
        TestRegistrationAuthority authority = desk();
        awaitDesk();
        RawAttachStream host = new RawAttachStream(relays, relays.site.credential(RelayFixture.HOST, key, SHORT));
        ByteString request = request(RelayFixture.HOST, key);
        int limited = 0;
        int granted = 0;
        for (int i = 0; i < 40; i++) {
            host.send(new AgentMessage.Renew(request));
        }
        for (int i = 0; i < 40; i++) {
            RenewalResult outcome = host.receive(RelayMessage.Renewed.class).outcome();
            granted += outcome.isGranted() ? 1 : 0;
            limited += outcome.refused().equals(RenewalResult.LIMIT) ? 1 : 0;
        }
        assertThat(granted).isEqualTo(1);
        assertThat(limited).isEqualTo(39);
        assertThat(authority.certified.get()).isEqualTo(1);
    }

    @Test
    void who_is_no_desk_neither_answers_nor_delivers() throws Exception {
        for (AgentMessage message : List.of(
                new AgentMessage.RenewalAnswered(1, RenewalResult.refused(RenewalResult.FAILED)),
                new AgentMessage.DeliverRevocations(ByteString.copyFromUtf8("list")))) {
            RawAttachStream host = new RawAttachStream(relays, relays.credential(RelayFixture.HOST));
            host.send(message);
            assertThat(host.link.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void a_desk_that_says_nothing_costs_30_s_and_one_that_is_not_asked_nothing() throws Exception {
        RawAttachStream agent = new RawAttachStream(relays, relays.credential(AuthorityLinkCredential.NAME));
        awaitDesk();
        EmbeddedChannel clock = new EmbeddedChannel();
        clock.freezeTime();
        List<RenewalResult> outcomes = new ArrayList<>();
        ByteString request = ByteString.copyFromUtf8("request");
        for (int i = 0; i <= ProtocolLimits.RENEWALS; i++) {
            relays.relay.renewals().requestRenewal(RelayFixture.HOST, request, clock.eventLoop(), outcomes::add);
        }
        assertThat(outcomes).as("all but one wait").containsExactly(RenewalResult.refused(RenewalResult.LIMIT));
        RelayMessage.RenewalRequested first = agent.receive(RelayMessage.RenewalRequested.class);
        assertThat(first.from()).isEqualTo(RelayFixture.HOST);
        RawAttachStream another = new RawAttachStream(relays, relays.credential(AuthorityLinkCredential.NAME));
        another.send(new AgentMessage.RenewalAnswered(first.id(), RenewalResult.granted(new byte[] {1})));
        another.send(new AgentMessage.Serve(RelayFixture.HOST));
        another.receive(RelayMessage.Served.class);
        assertThat(outcomes).hasSize(1);
        clock.advanceTimeBy(ProtocolLimits.RENEWAL_TIME.toMillis() - 1, TimeUnit.MILLISECONDS);
        clock.runScheduledPendingTasks();
        assertThat(outcomes).hasSize(1);
        clock.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        clock.runScheduledPendingTasks();
        assertThat(outcomes).hasSize(1 + ProtocolLimits.RENEWALS).endsWith(RenewalResult.refused("no-answer"));
        agent.send(new AgentMessage.RenewalAnswered(first.id(), RenewalResult.granted(new byte[] {1})));
        agent.send(new AgentMessage.Serve(RelayFixture.HOST));
        agent.receive(RelayMessage.Served.class);
        assertThat(outcomes).as("an answer that is late").hasSize(1 + ProtocolLimits.RENEWALS);
    }

    @Test
    void the_relay_renews_its_own_certificate_and_shows_it_without_a_restart() throws Exception {
        RenewalClient renewal = renewal(RelayFixture.RELAY, enrolled(RelayFixture.RELAY), fresh -> {});
        relays.kill();
        relays.relayOwn = renewal;
        relays.relay = relays.serve(0, RelayLimits.DEFAULT);
        X509Certificate old = renewal.get().chain().get(0);
        open.add(new RelayCertificateRenewal(renewal, relays.relay.renewals(), relays.loops.next()));
        desk();
        await(() -> !renewal.get().chain().get(0).equals(old));
        List<X509Certificate> presented = new ArrayList<>();
        TlsCredential device = relays.credential(relays.device);
        RelayFixture.get(
                org.cloister.transport.link.ClientLink.dial(relays.loops, relays.relay.address(), device, chain -> {
                    presented.add(chain.get(0));
                    return CertifiedPeerVerifier.forRelays(relays.trustStore).verify(chain);
                }));
        assertThat(presented).containsExactly(renewal.get().chain().get(0));
    }
}
