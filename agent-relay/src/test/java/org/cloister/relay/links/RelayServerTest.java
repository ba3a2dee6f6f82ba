package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The relay against peers that are wrong, slow, greedy or gone, over loopback. */
@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class RelayServerTest {
    @TempDir
    private Path state;

    @TempDir
    private Path other;

    private RelayFixture fixture;
    private TestAgent host;
    private AgentAttachStream attachment;

    @AfterEach
    void stop() {
        if (host != null) {
            host.close();
        }
        fixture.close();
    }

    private void start(RelayLimits limits) throws Exception {
        fixture = new RelayFixture(state, limits);
        host = fixture.agent(RelayFixture.HOST);
        attachment = host.attachment();
    }

    private static RelayLimits limits(int projectCircuits, Duration idle) {
        return new RelayLimits(100, 50, projectCircuits, 50, idle, Duration.ofSeconds(1));
    }

    private void serve(CircuitRecorder tap) throws Exception {
        assertThat(host.serve(
                        attachment, fixture.controller, fixture.credential(fixture.controller), tap.application()))
                .isEmpty();
    }

    private Circuit open(ClientLink device, CircuitRecorder tap) throws Exception {
        return open(device, fixture.member, tap);
    }

    private Circuit open(ClientLink device, CertificateName from, CircuitRecorder tap) throws Exception {
        return RelayFixture.get(Circuit.open(
                device,
                RelayFixture.terms(from, fixture.controller),
                fixture.credential(from),
                fixture.trust,
                tap.application()));
    }

    @Test
    void a_circuit_that_stalls_stops_its_sender_and_no_other_circuit() throws Exception {
        start(RelayLimits.DEFAULT);
        CircuitRecorder stalled = CircuitRecorder.keeping();
        serve(stalled);
        ClientLink device = fixture.link(fixture.device);
        Circuit first = open(device, CircuitRecorder.keeping());
        Circuit there = (Circuit) host.circuits.poll(20, TimeUnit.SECONDS);
        holdBack(there, true);
        int written = fill(first);
        assertThat(written).as("what windows and buffers hold").isLessThan(8 << 20);
        CircuitRecorder moving = CircuitRecorder.keeping();
        serve(moving);
        CircuitRecorder sender = CircuitRecorder.keeping();
        open(device, sender);
        sender.send(new byte[3_000_000]);
        assertThat(moving.await(3_000_000)).hasSize(3_000_000);
        holdBack(there, false);
        assertThat(stalled.await(written)).hasSize(written);
    }

    /** What its stream still holds unread must not keep the circuit and its project's place. */
    @Test
    void a_circuit_that_stalls_ends_with_its_openers_link() throws Exception {
        start(RelayLimits.DEFAULT);
        CircuitRecorder stalled = CircuitRecorder.keeping();
        serve(stalled);
        ClientLink device = fixture.link(fixture.device);
        Circuit first = open(device, CircuitRecorder.keeping());
        Circuit there = (Circuit) host.circuits.poll(20, TimeUnit.SECONDS);
        holdBack(there, true);
        fill(first);
        device.close();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (fixture.relay.circuitBroker().openCircuits() > 0 && System.nanoTime() - endNs < 0) {
            Thread.sleep(10);
        }
        assertThat(fixture.relay.circuitBroker().openCircuits()).isZero();
        holdBack(there, false);
        // From the reset alone: the trailers would have come behind what it did not take.
        assertThat(stalled.awaitFailure()).hasMessageContaining("lost");
    }

    private static void holdBack(Circuit circuit, boolean held) throws Exception {
        circuit.channel()
                .eventLoop()
                .submit(() -> circuit.channel().config().setAutoRead(!held))
                .get();
    }

    /** @return how many bytes went into it until it took no more */
    private static int fill(Circuit circuit) throws Exception {
        byte[] piece = new byte[64 * 1024];
        int written = 0;
        while (circuit.channel().isWritable() && written < 64 << 20) {
            circuit.channel()
                    .writeAndFlush(io.netty.buffer.Unpooled.wrappedBuffer(piece))
                    .await(200);
            written += piece.length;
        }
        return written;
    }

    @Test
    void an_idle_circuit_ends_and_both_ends_hear_why() throws Exception {
        start(limits(10, Duration.ofSeconds(1)));
        CircuitRecorder target = CircuitRecorder.keeping();
        CircuitRecorder opener = CircuitRecorder.keeping();
        serve(target);
        open(fixture.link(fixture.device), opener);
        assertThat(opener.awaitFailure()).hasMessageContaining("relay idle");
        assertThat(target.awaitFailure()).hasMessageContaining("relay idle");
    }

    /** END_STREAM has gone to the target already, and a second one would be an error of its host's whole connection. */
    @Test
    void a_circuit_that_ends_with_one_half_open_takes_no_link_along() throws Exception {
        start(limits(10, Duration.ofSeconds(1)));
        CircuitRecorder target = CircuitRecorder.keeping();
        CircuitRecorder opener = CircuitRecorder.keeping();
        serve(target);
        ClientLink device = fixture.link(fixture.device);
        open(device, opener).shutdownOutput();
        assertThat(target.awaitEnd()).isTrue();
        assertThat(opener.awaitFailure()).hasMessageContaining("relay idle");
        target.awaitFailure();
        assertThat(open(device, CircuitRecorder.keeping()).version()).isEqualTo(1);
        assertThat(host.losses).isEmpty();
    }

    @Test
    void a_member_of_one_project_cannot_dial_anothers_vm() throws Exception {
        start(RelayLimits.DEFAULT);
        serve(CircuitRecorder.keeping());
        ClientLink otherMember = fixture.link(fixture.otherDevice);
        assertThatThrownBy(() -> open(otherMember, fixture.otherMember, CircuitRecorder.keeping()))
                .hasMessageContaining("relay not-allowed");
        assertThatThrownBy(() -> open(otherMember, fixture.member, CircuitRecorder.keeping()))
                .hasMessageContaining("relay not-allowed");
        assertThat(host.dials).isEmpty();
    }

    @Test
    void a_host_that_claims_anothers_vm_gets_no_circuit() throws Exception {
        start(RelayLimits.DEFAULT);
        // It has a key of its own for the worker's name, but no authority of the project behind it.
        assertThat(host.serve(
                        attachment,
                        fixture.controller,
                        fixture.credential(fixture.worker),
                        CircuitRecorder.keeping().application()))
                .isEmpty();
        assertThatThrownBy(() -> open(fixture.link(fixture.device), CircuitRecorder.keeping()))
                .hasMessageContaining("opener untrusted");
    }

    @Test
    void only_hosts_serve_names_other_than_their_own() throws Exception {
        start(RelayLimits.DEFAULT);
        try (TestAgent device = fixture.agent(fixture.device)) {
            assertThat(device.serve(
                            device.attachment(),
                            fixture.controller,
                            fixture.credential(fixture.controller),
                            CircuitRecorder.keeping().application()))
                    .isEqualTo(Optional.of(CloseReason.NOT_ALLOWED));
        }
    }

    @Test
    void certificates_that_are_not_the_ones_end_the_handshake() throws Exception {
        start(RelayLimits.DEFAULT);
        RelayFixture elsewhere = new RelayFixture(other);
        try {
            for (TlsCredential wrong : List.of(
                    elsewhere.credential(RelayFixture.HOST),
                    new TlsCredential(
                            TestSite.pair(SignatureCurve.P256).getPrivate(),
                            fixture.credential(RelayFixture.HOST).chain()))) {
                try (TestAgent agent = new TestAgent(fixture, wrong)) {
                    assertThat(agent.losses.poll(20, TimeUnit.SECONDS)).isNotNull();
                    assertThat(agent.attachments).isEmpty();
                }
            }
            // And the other way round: an agent lets no other relay have its requests.
            assertThatThrownBy(() -> RelayFixture.get(ClientLink.dial(
                            fixture.loops,
                            elsewhere.relay.address(),
                            fixture.credential(RelayFixture.HOST),
                            CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY))))
                    .hasMessageContaining("TLS");
        } finally {
            elsewhere.close();
        }
        assertThat(fixture.metrics.handshakesFailed.getCount()).isPositive();
    }

    @Test
    void a_project_gets_so_many_circuits_and_gives_them_back() throws Exception {
        start(limits(1, Duration.ofSeconds(60)));
        serve(CircuitRecorder.echoing());
        ClientLink device = fixture.link(fixture.device);
        CircuitRecorder tap = CircuitRecorder.keeping();
        Circuit only = open(device, tap);
        assertThatThrownBy(() -> open(device, CircuitRecorder.keeping())).hasMessageContaining("relay limit");
        only.shutdownOutput();
        assertThat(tap.awaitEnd()).isTrue();
        tap.awaitFailure();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (fixture.relay.circuitBroker().openCircuits() > 0 && System.nanoTime() - endNs < 0) {
            Thread.onSpinWait();
        }
        assertThat(open(device, CircuitRecorder.keeping()).version()).isEqualTo(1);
    }

    @Test
    void opening_streams_and_leaving_ends_the_link_and_leaves_nothing() throws Exception {
        start(RelayLimits.DEFAULT);
        assertThat(host.serve(
                        attachment,
                        fixture.controller,
                        fixture.credential(fixture.controller),
                        CircuitRecorder.keeping().application()))
                .isEmpty();
        ClientLink device = fixture.link(fixture.device);
        StreamRequest.Circuit request = new StreamRequest.Circuit(
                ProtocolVersions.OURS, fixture.controller, fixture.member, RelayFixture.POLICY);
        for (int i = 0; i < 4 * ProtocolLimits.RESETS && !device.closeFuture().isDone(); i++) {
            var closing = new io.netty.handler.codec.http2.Http2StreamChannelBootstrap(device.channel()).open();
            closing.addListener(opened -> {
                if (opened.isSuccess()) {
                    var stream = (io.netty.handler.codec.http2.Http2StreamChannel) opened.getNow();
                    stream.writeAndFlush(new io.netty.handler.codec.http2.DefaultHttp2HeadersFrame(request.headers()))
                            .addListener(sent -> stream.close());
                }
            });
        }
        assertThat(device.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(fixture.relay.circuitBroker().openCircuits()).isZero();
        assertThat(open(fixture.link(fixture.device), CircuitRecorder.keeping()).version())
                .isEqualTo(1);
    }

    @Test
    void a_token_is_good_on_the_link_that_was_told_and_nowhere_else() throws Exception {
        start(RelayLimits.DEFAULT);
        attachment.serve(fixture.controller);
        host.served.poll(20, TimeUnit.SECONDS);
        ClientLink device = fixture.link(fixture.device);
        var opening = Circuit.open(
                device,
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                CircuitRecorder.keeping().application());
        DialBackToken token = host.dials.poll(20, TimeUnit.SECONDS).token();
        try (ClientLink other = fixture.link(RelayFixture.OTHER_HOST)) {
            assertThatThrownBy(() -> RelayFixture.get(
                            other.open(new StreamRequest.DialBack(ProtocolVersions.OURS, token), stream -> {})))
                    .hasMessageContaining("relay unknown");
        }
        RelayFixture.get(
                attachment.link().open(new StreamRequest.DialBack(ProtocolVersions.OURS, token), stream -> {}));
        assertThatThrownBy(() -> RelayFixture.get(
                        attachment.link().open(new StreamRequest.DialBack(ProtocolVersions.OURS, token), stream -> {})))
                .hasMessageContaining("relay unknown");
        assertThat(opening.isSuccess()).isFalse();
    }

    @Test
    void versions_that_do_not_meet_are_refused_before_anything_else() throws Exception {
        start(RelayLimits.DEFAULT);
        assertThatThrownBy(() -> RelayFixture.get(fixture.link(fixture.device)
                        .open(new StreamRequest.Attach(new ProtocolVersions(2, 3)), stream -> {})))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("relay version");
    }

    @Test
    void agents_come_back_to_a_relay_that_was_killed() throws Exception {
        start(RelayLimits.DEFAULT);
        int port = fixture.relay.address().getPort();
        fixture.kill();
        assertThat(host.losses.poll(20, TimeUnit.SECONDS)).isNotNull();
        fixture.relay = fixture.serve(port, RelayLimits.DEFAULT);
        attachment = host.attachment();
        serve(CircuitRecorder.keeping());
        assertThat(open(fixture.link(fixture.device), CircuitRecorder.keeping()).version())
                .isEqualTo(1);
    }

    @Test
    void a_relay_that_stops_lets_circuits_end_and_says_when_to_come_back() throws Exception {
        start(limits(10, Duration.ofSeconds(60)));
        CircuitRecorder opener = CircuitRecorder.keeping();
        serve(CircuitRecorder.echoing());
        ClientLink device = fixture.link(fixture.device);
        Circuit circuit = open(device, opener);
        Thread draining = new Thread(() -> {
            try {
                fixture.relay.drain();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        draining.start();
        assertThat(host.losses.poll(20, TimeUnit.SECONDS)).contains("draining");
        opener.send(new byte[1000]);
        assertThat(opener.await(1000)).hasSize(1000);
        assertThat(fixture.relay.notReadyReason()).contains("draining");
        circuit.shutdownOutput();
        assertThat(opener.awaitEnd()).isTrue();
        draining.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(draining.isAlive()).isFalse();
    }
}
