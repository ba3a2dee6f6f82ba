package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Agents that flood, stall, dribble or have another time. Each costs the relay something bounded, and nobody else anything. */
@Timeout(90)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class HostileAgentTest {
    private static final int AT_ONCE = 8;
    private static final RelayLimits FEW =
            new RelayLimits(100, AT_ONCE, 10, 50, Duration.ofMinutes(1), Duration.ofSeconds(1));

    @TempDir
    private Path state;

    private RelayFixture fixture;

    @AfterEach
    void stop() {
        fixture.close();
    }

    private static void until(String what, BooleanSupplier holds) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("not within 30 s: " + what);
            }
            Thread.sleep(10);
        }
    }

    @Test
    void connections_that_say_nothing_are_few_and_have_ten_seconds() throws Exception {
        fixture = new RelayFixture(state, FEW);
        ClientLink known = fixture.link(fixture.device);
        Channel attach = RelayFixture.get(known.open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {}));
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 4 * AT_ONCE; i++) {
            silent.add(new Socket(
                    fixture.relay.address().getAddress(),
                    fixture.relay.address().getPort()));
        }
        until("more than a few are let go at once", () -> fixture.metrics.linksRefused.getCount() >= 3 * AT_ONCE);
        assertThat(attach.isActive()).as("who was there before").isTrue();
        for (Socket each : silent) {
            each.setSoTimeout((int) ProtocolLimits.TLS_HANDSHAKE.multipliedBy(3).toMillis());
            try (each;
                    InputStream in = each.getInputStream()) {
                // An alert may come before the end.
                assertThat(in.readAllBytes()).hasSizeLessThan(64);
            } catch (java.net.SocketException e) {
                assertThat(e).as("a reset is an end, too").hasMessageContaining("reset");
            }
        }
        assertThat(fixture.link(fixture.device).closeFuture().isDone())
                .as("who comes after")
                .isFalse();
    }

    @Test
    void a_link_that_asks_for_nothing_ends() throws Exception {
        fixture = new RelayFixture(state, FEW);
        ClientLink idle = fixture.link(fixture.device);
        assertThat(idle.closeFuture().await(3 * ProtocolLimits.FIRST_REQUEST.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void an_attach_stream_that_dribbles_ends_with_its_link() throws Exception {
        fixture = new RelayFixture(state, FEW);
        ClientLink device = fixture.link(fixture.device);
        Channel stream = RelayFixture.get(device.open(new StreamRequest.Attach(ProtocolVersions.OURS), opened -> {}));
        stream.writeAndFlush(MessageFraming.frame(new AgentMessage.Attach("x").wire()))
                .sync();
        byte[] message = io.netty.buffer.ByteBufUtil.getBytes(
                MessageFraming.frame(new AgentMessage.Unserve(fixture.device).wire()));
        long from = System.nanoTime();
        for (int i = 0; i < message.length - 1 && !device.closeFuture().isDone(); i++) {
            stream.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {message[i]}));
            device.closeFuture().await(1, TimeUnit.SECONDS);
        }
        assertThat(device.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(ProtocolLimits.MESSAGE_TIME.multipliedBy(3));
    }

    @Test
    void an_agent_that_asks_and_does_not_read_is_let_go() throws Exception {
        fixture = new RelayFixture(state, FEW);
        ClientLink host = fixture.link(RelayFixture.HOST);
        Channel stream = RelayFixture.get(host.open(new StreamRequest.Attach(ProtocolVersions.OURS), opened -> {}));
        stream.eventLoop().submit(() -> stream.config().setAutoRead(false)).sync();
        stream.writeAndFlush(MessageFraming.frame(new AgentMessage.Attach("x").wire()))
                .sync();
        CertificateName name = fixture.site.a.name("v", CertificateRole.WORKER);
        for (int i = 0; i < 1_000_000 && !host.closeFuture().isDone(); i++) {
            stream.write(MessageFraming.frame(new AgentMessage.Serve(name).wire()));
            if (i % 100 == 0) {
                stream.flush();
                until("the stream takes more, or has ended", () -> stream.isWritable() || !stream.isActive());
            }
        }
        assertThat(host.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(fixture.metrics.slowAgentsClosed.getCount()).isPositive();
        // The relay's own loop hears of the end in its turn.
        until("what it served is free", () -> fixture.relay.registry().find(name) == null);
    }

    @Test
    void a_certificate_of_another_time_is_refused_and_two_minutes_are_no_other_time() throws Exception {
        fixture = new RelayFixture(state, FEW);
        for (Duration apart : List.of(Duration.ofHours(3), Duration.ofDays(-2))) {
            assertThatThrownBy(() -> dial(apart)).hasMessageContaining("TLS");
        }
        assertThat(fixture.metrics.handshakesFailed.getCount()).isEqualTo(2);
        assertThat(dial(Duration.ofSeconds(90)).peer()).isPresent();
    }

    /** With a certificate whose issuer's clock is so far ahead. */
    private ClientLink dial(Duration apart) throws Exception {
        KeyPair pair = TestSite.pair(SignatureCurve.P256);
        SubjectPublicKey key =
                SubjectPublicKey.of(VerificationKey.parse(pair.getPublic().getEncoded()));
        byte[] leaf = fixture.site.a.authority.issue(
                fixture.device, key, Instant.now().plus(apart), TestSite.DAY);
        ClientLink link = RelayFixture.get(ClientLink.dial(
                fixture.loops,
                fixture.relay.address(),
                TlsCredential.of(pair.getPrivate(), List.of(leaf)),
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY)));
        // In TLS 1.3 the client is done before the server has looked at its certificate.
        if (link.closeFuture().await(500)) {
            throw new AssertionError("TLS: the relay ended it");
        }
        return link;
    }
}
