package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class RelayCircuitTest {
    @TempDir
    private Path state;

    private RelayFixture fixture;
    private TestAgent host;
    private AgentAttachStream attachment;
    private final CircuitRecorder atTarget = CircuitRecorder.keeping();
    private final CircuitRecorder atOpener = CircuitRecorder.keeping();

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(state);
        host = fixture.agent(RelayFixture.HOST);
        attachment = host.attachment();
    }

    @AfterEach
    void stop() {
        host.close();
        fixture.close();
    }

    private Circuit open(CircuitRecorder target, CircuitRecorder opener) throws Exception {
        assertThat(host.serve(
                        attachment, fixture.controller, fixture.credential(fixture.controller), target.application()))
                .isEmpty();
        ClientLink device = fixture.link(fixture.device);
        return RelayFixture.get(Circuit.open(
                device,
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                opener.application()));
    }

    @Test
    void bytes_pass_both_ways_and_each_end_knows_the_other() throws Exception {
        Circuit circuit = open(atTarget, atOpener);
        byte[] up = new byte[3_000_000];
        new Random(1).nextBytes(up);
        byte[] down = "an answer".getBytes(StandardCharsets.US_ASCII);
        atOpener.send(up);
        assertThat(Arrays.equals(atTarget.await(up.length), up)).isTrue();
        atTarget.send(down);
        assertThat(atOpener.await(down.length)).isEqualTo(down);
        assertThat(circuit.peer().name()).isEqualTo(fixture.controller);
        assertThat(circuit.version()).isEqualTo(1);
        Circuit other = (Circuit) host.circuits.poll(20, TimeUnit.SECONDS);
        assertThat(other.terms()).isEqualTo(circuit.terms());
    }

    @Test
    void one_side_says_that_it_is_done_and_still_hears_the_other() throws Exception {
        Circuit circuit = open(atTarget, atOpener);
        atOpener.send(new byte[100]);
        circuit.shutdownOutput();
        assertThat(atTarget.awaitEnd()).isTrue();
        assertThat(atTarget.size()).isEqualTo(100);
        atTarget.send(new byte[200_000]);
        assertThat(atOpener.await(200_000)).hasSize(200_000);
        atTarget.circuit().shutdownOutput();
        assertThat(atOpener.awaitEnd()).isTrue();
        assertThat(atOpener.awaitFailure()).isNull();
        assertThat(atTarget.awaitFailure()).isNull();
    }

    @Test
    void inside_is_tls_1_3_with_aes_256_and_no_session_to_resume() throws Exception {
        Circuit circuit = open(atTarget, atOpener);
        var session = circuit.channel()
                .pipeline()
                .get(io.netty.handler.ssl.SslHandler.class)
                .engine()
                .getSession();
        assertThat(session.getProtocol()).isEqualTo("TLSv1.3");
        assertThat(session.getCipherSuite()).isEqualTo("TLS_AES_256_GCM_SHA384");
    }

    @Test
    void a_name_that_nobody_serves_is_unknown() throws Exception {
        ClientLink device = fixture.link(fixture.device);
        assertThatThrownBy(() -> RelayFixture.get(Circuit.open(
                        device,
                        RelayFixture.terms(fixture.member, fixture.controller),
                        fixture.credential(fixture.member),
                        fixture.trust,
                        atOpener.application())))
                .hasMessageContaining("relay unknown");
    }

    @Test
    void a_second_host_cannot_take_a_name_that_is_served() throws Exception {
        open(atTarget, atOpener);
        try (TestAgent other = fixture.agent(RelayFixture.OTHER_HOST)) {
            assertThat(other.serve(
                            other.attachment(),
                            fixture.controller,
                            fixture.credential(fixture.controller),
                            atTarget.application()))
                    .isEqualTo(Optional.of(CloseReason.CLAIMED));
        }
        assertThat(fixture.metrics.claimsRefused.getCount()).isEqualTo(1);
    }

    /** As after a break in the network, which the relay finds only when its ping has no answer. */
    @Test
    void a_host_that_dials_again_takes_its_names_over_from_its_link_before() throws Exception {
        open(atTarget, atOpener);
        CircuitRecorder atNewTarget = CircuitRecorder.keeping();
        try (TestAgent again = fixture.agent(RelayFixture.HOST)) {
            assertThat(again.serve(
                            again.attachment(),
                            fixture.controller,
                            fixture.credential(fixture.controller),
                            atNewTarget.application()))
                    .isEmpty();
            assertThat(host.served.poll(20, TimeUnit.SECONDS)).isEqualTo(Optional.of(CloseReason.CLAIMED));
            host.close();
            assertThat(atOpener.awaitFailure()).isNotNull();
            CircuitRecorder atNewOpener = CircuitRecorder.keeping();
            RelayFixture.get(Circuit.open(
                    fixture.link(fixture.device),
                    RelayFixture.terms(fixture.member, fixture.controller),
                    fixture.credential(fixture.member),
                    fixture.trust,
                    atNewOpener.application()));
            byte[] message = "over the newer link".getBytes(StandardCharsets.US_ASCII);
            atNewOpener.send(message);
            assertThat(atNewTarget.await(message.length)).isEqualTo(message);
        }
    }
}
