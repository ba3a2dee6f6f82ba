package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.Future;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A machine with an enrolment token, at a real relay: it asks for its first certificate and does nothing else. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class TokenHolderTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final CertificateName AUTHORITY = new CertificateName("ca", "desk", CertificateName.SITE);
    private static final CertificateName HOLDER = RelayFixture.HOST.forJoining();
    private static final ByteString REQUEST = ByteString.copyFromUtf8("a request");

    @TempDir
    private Path folder;

    private RelayFixture fixture;
    private KeyPair token;

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(Files.createDirectory(folder.resolve("state")));
        token = TestSite.pair(SignatureCurve.P256);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    private TlsCredential joining(CertificateName name, Instant from) throws Exception {
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(token.getPublic()));
        return TlsCredential.of(token.getPrivate(), List.of(fixture.site.authority.issue(name, subject, from, HOUR)));
    }

    private TlsCredential joining() throws Exception {
        return joining(HOLDER, Instant.now());
    }

    private RawAttachStream attached() throws Exception {
        awaitRoom();
        return new RawAttachStream(fixture, joining());
    }

    private void deliverList(long number, TlsCredential... revoked) throws Exception {
        fixture.deliver(TestSite.list(fixture.site.authority, number, revoked));
    }

    private void requireEnded(RawAttachStream machine, Object after) throws Exception {
        assertThat(machine.link.closeFuture().await(20, TimeUnit.SECONDS))
                .as("%s", after)
                .isTrue();
    }

    /** Waits until the relay knows that the former link has ended. */
    private void awaitRoom() {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (fixture.relay.registry().renewing.count() > 0) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void its_request_reaches_the_desk_under_its_joining_name_and_the_answer_comes_back() throws Exception {
        RawAttachStream authority = new RawAttachStream(fixture, fixture.credential(AUTHORITY));
        RawAttachStream machine = attached();
        machine.send(new AgentMessage.Renew(REQUEST));
        RelayMessage.RenewalRequested request = authority.receive(RelayMessage.RenewalRequested.class);
        assertThat(request.from()).isEqualTo(HOLDER);
        assertThat(request.request()).isEqualTo(REQUEST);
        RenewalResult answer = RenewalResult.granted(new byte[] {1, 2, 3});
        authority.send(new AgentMessage.RenewalAnswered(request.id(), answer));
        assertThat(machine.receive(RelayMessage.Renewed.class).outcome()).isEqualTo(answer);
        machine.send(new AgentMessage.Renew(REQUEST));
        assertThat(machine.receive(RelayMessage.Renewed.class).outcome().refused())
                .as("within renewal-pause")
                .isEqualTo(RenewalResult.LIMIT);
        assertThat(fixture.metrics.linksForRenewal.getCount()).isOne();
    }

    @Test
    void it_hears_the_sites_lists_and_no_audit_head_and_is_in_no_register() throws Exception {
        RawAttachStream machine = attached();
        RelayMessage.Revocations list = machine.receive(RelayMessage.Revocations.class);
        assertThat(list.signed().toByteArray())
                .isEqualTo(fixture.documents()
                        .revocationListsFor(CertificateName.SITE)
                        .get(0)
                        .bytes());
        assertThat(fixture.relay.registry().links()).noneMatch(link -> link.peer.equals(HOLDER));
        assertThat(fixture.relay.registry().host("n1")).isEmpty();
    }

    @Test
    void any_other_message_ends_the_link() throws Exception {
        for (AgentMessage message : List.of(
                new AgentMessage.Serve(fixture.worker),
                new AgentMessage.Serve(HOLDER),
                new AgentMessage.Serve(RelayFixture.HOST),
                new AgentMessage.Unserve(fixture.worker),
                new AgentMessage.DialRefused(DialBackToken.of(new byte[32]), CloseReason.REFUSED),
                new AgentMessage.RenewalAnswered(1, RenewalResult.refused(RenewalResult.FAILED)),
                new AgentMessage.DeliverRevocations(ByteString.copyFrom(TestSite.list(fixture.site.authority, 2))))) {
            RawAttachStream machine = attached();
            machine.send(message);
            requireEnded(machine, message);
            assertThat(fixture.relay.registry().isServed(fixture.worker)).isFalse();
        }
        assertThat(fixture.documents().revocationListsFor(CertificateName.SITE))
                .allMatch(list -> list.number().equals(BigInteger.ONE));
    }

    @Test
    void any_other_stream_ends_the_link() throws Exception {
        for (StreamRequest request : List.of(
                new StreamRequest.Tickets(ProtocolVersions.OURS, Optional.empty()),
                new StreamRequest.Tickets(ProtocolVersions.OURS, Optional.of(fixture.controller)),
                new StreamRequest.DialBack(ProtocolVersions.OURS, DialBackToken.of(new byte[32])),
                new StreamRequest.Circuit(
                        ProtocolVersions.OURS, fixture.controller, fixture.worker, RelayFixture.POLICY))) {
            RawAttachStream machine = attached();
            machine.link.open(request, each -> {});
            requireEnded(machine, request);
        }
    }

    @Test
    void it_has_one_link_at_a_time() throws Exception {
        RawAttachStream first = attached();
        long refused = fixture.metrics.linksRefused.getCount();
        Future<ClientLink> second = ClientLink.dial(
                fixture.loops, fixture.relay.address(), joining(), CertifiedPeerVerifier.forRelays(fixture.trustStore));
        second.await(20, TimeUnit.SECONDS);
        assertThat(!second.isSuccess() || second.getNow().closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(fixture.metrics.linksRefused.getCount()).isEqualTo(refused + 1);
        assertThat(first.link.channel().isActive()).isTrue();
    }

    @Test
    void an_expired_or_revoked_one_is_refused_and_a_revocation_ends_an_open_link() throws Exception {
        assertThat(fixture.refuses(joining(HOLDER, Instant.now().minus(HOUR).minusSeconds(1))))
                .as("expired: it is no host that renews")
                .isTrue();
        TlsCredential own = joining();
        RawAttachStream machine = new RawAttachStream(fixture, own);
        deliverList(2, own);
        requireEnded(machine, "its revocation");
        awaitRoom();
        assertThat(fixture.refuses(own)).as("revoked").isTrue();
        RawAttachStream other = new RawAttachStream(fixture, joining());
        assertThat(other.link.channel().isActive()).as("of another token").isTrue();
    }
}
