package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A relay in wrong hands against the real clients: it learns nothing and achieves nothing but delay or a clean refusal. */
@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class HostileRelayTest {
    private static final byte[] MARKER = "MARKER-of-project-a".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    private Path state;

    private RelayFixture fixture;
    private final CircuitRecorder atTarget = CircuitRecorder.keeping();
    private final CircuitRecorder atOpener = CircuitRecorder.keeping();

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(state);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    private HostileRelay relay(UnaryOperator<RelayMessage.Dial> falsify, HostileRelay.Tamper tamper) throws Exception {
        return new HostileRelay(fixture, fixture.credential(RelayFixture.RELAY), falsify, tamper);
    }

    private Circuit open(HostileRelay relay) throws Exception {
        TestAgent host = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), relay.address());
        AgentAttachStream attachment = host.attachment();
        host.answer(fixture.controller, fixture.credential(fixture.controller), atTarget.application());
        host.answer(fixture.worker, fixture.credential(fixture.worker), atTarget.application());
        assertThat(attachment).isNotNull();
        TlsCredential device = fixture.credential(fixture.device);
        ClientLink link = RelayFixture.get(ClientLink.dial(
                fixture.loops,
                relay.address(),
                device,
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY)));
        return RelayFixture.get(Circuit.open(
                link,
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                atOpener.application()));
    }

    @Test
    void a_relay_that_keeps_the_sites_list_back_gets_nothing_to_carry() throws Exception {
        try (HostileRelay relay = relay(UnaryOperator.identity(), HostileRelay.HONEST)) {
            for (List<byte[]> delivered : List.of(
                    List.<byte[]>of(),
                    List.of(TestSite.list(fixture.site.a.authority, 1)),
                    List.of(TestSite.list(new TestSite().authority, 1)))) {
                relay.lists = delivered;
                try (TestAgent agent = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), relay.address())) {
                    assertThat(agent.losses.poll(20, TimeUnit.SECONDS)).contains("a revocation list");
                    assertThat(agent.attachments).isEmpty();
                }
            }
        }
    }

    @Test
    void a_relay_that_would_end_a_hosts_vms_loses_the_host() throws Exception {
        try (HostileRelay relay = relay(UnaryOperator.identity(), HostileRelay.HONEST);
                TestAgent agent = new TestAgent(fixture, fixture.credential(RelayFixture.HOST), relay.address())) {
            agent.attachment();
            relay.send(new RelayMessage.ShutdownRequest(Duration.ofSeconds(20)));
            assertThat(agent.losses.poll(20, TimeUnit.SECONDS)).contains("want no Leave of a relay");
            // It comes again, as to any relay.
            agent.attachment();
        }
    }

    @Test
    void recording_shows_nothing() throws Exception {
        try (HostileRelay relay = relay(UnaryOperator.identity(), HostileRelay.HONEST)) {
            open(relay);
            atOpener.send(MARKER);
            assertThat(atTarget.await(MARKER.length)).isEqualTo(MARKER);
            atTarget.send(MARKER);
            assertThat(atOpener.await(MARKER.length)).isEqualTo(MARKER);
            assertThat(relay.has(MARKER)).isFalse();
            assertThat(relay.recorded.size()).isGreaterThan(2 * MARKER.length);
        }
    }

    /** Sends enough for several pieces and tells how the target's end broke, having heard nothing but a true beginning. */
    private Throwable broken(HostileRelay.Tamper tamper) throws Exception {
        byte[] sent = new byte[400_000];
        new Random(3).nextBytes(sent);
        try (HostileRelay relay = relay(UnaryOperator.identity(), tamper)) {
            try {
                open(relay);
            } catch (java.util.concurrent.ExecutionException e) {
                return e.getCause();
            }
            atOpener.send(sent);
            Throwable why = atTarget.awaitFailure();
            byte[] received = atTarget.await(0);
            assertThat(received.length).isLessThan(sent.length);
            assertThat(received).isEqualTo(java.util.Arrays.copyOf(sent, received.length));
            return why;
        }
    }

    /** The handshake takes fewer pieces than this; what comes later is the application's. */
    private static final int LATER = 6;

    @Test
    void a_replayed_piece_ends_the_circuit() throws Exception {
        assertThat(broken((fromOpener, n, piece) -> fromOpener && n == LATER ? List.of(piece, piece) : List.of(piece)))
                .isNotNull();
    }

    @Test
    void pieces_in_another_order_end_the_circuit() throws Exception {
        List<byte[]> delayed = new ArrayList<>();
        assertThat(broken((fromOpener, n, piece) -> {
                    if (!fromOpener || n < LATER) {
                        return List.of(piece);
                    }
                    delayed.add(0, piece);
                    return delayed.size() == 2 ? List.copyOf(delayed) : delayed.size() < 2 ? List.of() : List.of(piece);
                }))
                .isNotNull();
    }

    @Test
    void a_changed_bit_ends_the_circuit() throws Exception {
        assertThat(broken((fromOpener, n, piece) -> {
                    if (fromOpener && n == LATER) {
                        piece[piece.length / 2] ^= 1;
                    }
                    return List.of(piece);
                }))
                .isNotNull();
    }

    @Test
    void a_circuit_that_is_cut_off_is_not_taken_for_one_that_ended() throws Exception {
        assertThat(broken((fromOpener, n, piece) -> fromOpener && n >= LATER ? null : List.of(piece)))
                .isNotNull();
        assertThat(atTarget.hasReceivedEnd()).isFalse();
    }

    @Test
    void a_handshake_that_is_touched_ends_in_a_refusal_at_every_piece() throws Exception {
        for (int at = 0; at < 2; at++) {
            int touched = at;
            for (boolean side : new boolean[] {true, false}) {
                try (HostileRelay relay = relay(UnaryOperator.identity(), (fromOpener, n, piece) -> {
                    if (fromOpener == side && n == touched) {
                        piece[piece.length / 2] ^= 0x10;
                    }
                    return List.of(piece);
                })) {
                    assertThatThrownBy(() -> open(relay)).hasMessageContaining("circuit");
                }
            }
        }
    }

    @Test
    void a_relay_that_holds_the_handshake_back_delays_it_and_no_more() throws Exception {
        try (HostileRelay relay = relay(UnaryOperator.identity(), (fromOpener, n, piece) -> List.of())) {
            assertThatThrownBy(() -> open(relay)).hasMessageMatching(".*relay (no-answer|lost)");
        }
    }

    @Test
    void another_policy_for_the_target_is_found_out() throws Exception {
        try (HostileRelay relay = relay(
                dial -> new RelayMessage.Dial(dial.token(), dial.from(), dial.to(), Digest.sha384("weaker")),
                HostileRelay.HONEST)) {
            assertThatThrownBy(() -> open(relay)).hasMessageContaining("protocol");
        }
    }

    @Test
    void a_circuit_turned_to_another_vm_of_the_project_is_found_out() throws Exception {
        try (HostileRelay relay = relay(
                dial -> new RelayMessage.Dial(dial.token(), dial.from(), fixture.worker, dial.policy()),
                HostileRelay.HONEST)) {
            assertThatThrownBy(() -> open(relay)).hasMessageContaining("opener untrusted");
        }
    }

    @Test
    void an_opener_under_anothers_name_is_found_out() throws Exception {
        try (HostileRelay relay = relay(
                dial -> new RelayMessage.Dial(dial.token(), fixture.otherMember, dial.to(), dial.policy()),
                HostileRelay.HONEST)) {
            assertThatThrownBy(() -> open(relay)).hasMessageContaining("circuit");
        }
    }

    @Test
    void delay_is_only_delay() throws Exception {
        List<byte[]> delayed = new ArrayList<>();
        try (HostileRelay relay = relay(UnaryOperator.identity(), (fromOpener, n, piece) -> {
            if (!fromOpener || n < LATER) {
                return List.of(piece);
            }
            delayed.add(piece);
            return delayed.size() < 3 ? List.of() : List.of(delayed.remove(0));
        })) {
            open(relay);
            byte[] sent = new byte[300_000];
            new Random(4).nextBytes(sent);
            atOpener.send(sent);
            byte[] received = atTarget.await(100_000);
            assertThat(received).isEqualTo(java.util.Arrays.copyOf(sent, received.length));
        }
    }
}
