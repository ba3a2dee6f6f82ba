package org.cloister.relay.links;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests, over loopback, delivery of projects' and revocation documents to the relay, and its reaction. */
@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class RelayDeliveryTest {
    @TempDir
    private Path state;

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

    private void start() throws Exception {
        fixture = new RelayFixture(state);
        host = fixture.agent(RelayFixture.HOST);
        attachment = host.attachment();
    }

    private void serve(CircuitRecorder tap) throws Exception {
        assertThat(host.serve(
                        attachment, fixture.controller, fixture.credential(fixture.controller), tap.application()))
                .isEmpty();
    }

    @Test
    void a_revocation_reaches_who_is_attached_and_ends_the_revoked_and_outlives_a_restart() throws Exception {
        start();
        TlsCredential bad = fixture.credential(RelayFixture.OTHER_HOST);
        TestAgent revoked = new TestAgent(fixture, bad);
        revoked.attachment();
        host.revocations.clear();
        byte[] list = TestSite.list(fixture.site.authority, 2, bad);
        assertThat(fixture.deliver(list)).contains("revocation list 2");
        assertThat(host.revocations.poll(ProtocolLimits.REVOCATIONS.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(ByteString.copyFrom(list));
        assertThat(revoked.losses.poll(20, TimeUnit.SECONDS)).isNotNull();
        assertThatThrownBy(() -> fixture.deliver(TestSite.list(fixture.site.authority, 1)))
                .hasMessageContaining("above 2");
        int port = fixture.relay.address().getPort();
        fixture.kill();
        fixture.relay = fixture.serve(port, RelayLimits.DEFAULT);
        assertThat(host.attachment()).isNotNull();
        assertThat(host.revocations.poll(20, TimeUnit.SECONDS)).isEqualTo(ByteString.copyFrom(list));
        assertThat(revoked.attachments).isEmpty();
        revoked.close();
    }

    @Test
    void a_revoked_persons_open_circuit_ends_at_the_vm_within_five_seconds() throws Exception {
        start();
        CircuitRecorder target = CircuitRecorder.keeping();
        serve(target);
        TlsCredential person = fixture.credential(fixture.member);
        CircuitRecorder opener = CircuitRecorder.keeping();
        Circuit circuit = RelayFixture.get(Circuit.open(
                fixture.link(fixture.device),
                RelayFixture.terms(fixture.member, fixture.controller),
                person,
                fixture.trust,
                opener.application()));
        assertThat(circuit.peer().name()).isEqualTo(fixture.controller);
        long deliveredNs = System.nanoTime();
        fixture.deliver(TestSite.list(fixture.site.a.authority, 2, person));
        assertThat(opener.awaitFailure()).hasMessageContaining("revoked");
        assertThat(Duration.ofNanos(System.nanoTime() - deliveredNs)).isLessThan(ProtocolLimits.REVOCATIONS);
        assertThatThrownBy(() -> RelayFixture.get(Circuit.open(
                        fixture.link(fixture.device),
                        RelayFixture.terms(fixture.member, fixture.controller),
                        person,
                        fixture.trust,
                        CircuitRecorder.keeping().application())))
                .hasMessageContaining("circuit");
    }

    @Test
    void a_withheld_list_ends_what_its_signer_has_open_and_the_next_one_lets_them_come_back() throws Exception {
        start();
        serve(CircuitRecorder.keeping());
        CircuitRecorder opener = CircuitRecorder.keeping();
        ClientLink device = fixture.link(fixture.device);
        RelayFixture.get(Circuit.open(
                device,
                RelayFixture.terms(fixture.member, fixture.controller),
                fixture.credential(fixture.member),
                fixture.trust,
                opener.application()));
        ClientLink otherMember = fixture.link(fixture.otherDevice);
        fixture.deliver(TestSite.list(fixture.site.a.authority, 2, Duration.ofSeconds(4)));
        assertThat(device.closeFuture().isDone()).isFalse();
        assertThat(opener.awaitFailure()).isNotNull();
        assertThat(device.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(fixture.link(fixture.device).closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(otherMember.closeFuture().isDone()).isFalse();
        assertThat(host.losses).as("the site's own list holds").isEmpty();
        fixture.deliver(TestSite.list(fixture.site.a.authority, 3));
        ClientLink again = fixture.link(fixture.device);
        assertThat(again.closeFuture().await(3, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void who_the_site_serves_no_more_is_let_go_and_comes_back_no_more() throws Exception {
        start();
        ClientLink device = fixture.link(fixture.device);
        ClientLink otherMember = fixture.link(fixture.otherDevice);
        fixture.deliver(fixture.site.ended(fixture.site.a, 2));
        assertThat(device.closeFuture().await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(otherMember.closeFuture().isDone()).isFalse();
        assertThat(fixture.link(fixture.device).closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void a_project_has_as_many_links_as_its_site_approved() throws Exception {
        start();
        fixture.deliver(fixture.site.approval(fixture.site.a, 2, new ProjectApproval.Quota(1, 1, 1, 1, 1, 1)));
        ClientLink first = fixture.link(fixture.device);
        // The relay takes notice of a link after the one who dialled it: the second may be the first to it.
        ClientLink second = fixture.link(fixture.device);
        CompletableFuture<ClientLink> ended = new CompletableFuture<>();
        List.of(first, second).forEach(each -> each.closeFuture().addListener(end -> ended.complete(each)));
        ClientLink remaining = ended.get(20, TimeUnit.SECONDS) == first ? second : first;
        assertThat(fixture.link(fixture.device).closeFuture().await(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(remaining.closeFuture().isDone()).isFalse();
    }

    @Test
    void a_relay_that_its_own_list_names_is_given_up_before_anything_is_asked_of_it() throws Exception {
        start();
        fixture.deliver(TestSite.list(fixture.site.authority, 2, fixture.relayOwn()));
        try (TestAgent agent = fixture.agent(RelayFixture.OTHER_HOST)) {
            assertThat(agent.losses.poll(20, TimeUnit.SECONDS)).contains("revoked");
            assertThat(agent.attachments).isEmpty();
        }
        assertThat(host.losses.poll(20, TimeUnit.SECONDS)).contains("revoked");
    }

    @Test
    void what_nobody_said_who_may_is_not_taken() throws Exception {
        start();
        TestSite elsewhere = new TestSite();
        int lists = fixture.documents().trustStore().lists().all().size();
        assertThatThrownBy(() -> fixture.deliver(TestSite.list(elsewhere.authority, 10)))
                .hasMessageContaining("signature of an anchor");
        assertThatThrownBy(() -> fixture.deliver(elsewhere.approval(fixture.site.a, 9, TestSite.QUOTA)))
                .hasMessageContaining("signature of the site");
        assertThatThrownBy(() -> fixture.deliver(fixture.site.approval(elsewhere.a, 1, TestSite.QUOTA)))
                .hasMessageContaining("deliver its genesis");
        assertThatThrownBy(() -> fixture.deliver(
                        fixture.site.approval(fixture.site.a, 1, new ProjectApproval.Quota(1, 1, 1, 1, 1, 1))))
                .hasMessageContaining("has number 1 already");
        for (byte[] junk : new byte[][] {new byte[0], new byte[100], {0x30, 0x03, 1, 2, 3}, "{}".getBytes(UTF_8)}) {
            assertThatThrownBy(() -> fixture.deliver(junk)).isInstanceOf(IOException.class);
        }
        assertThat(fixture.documents().trustStore().lists().all()).hasSize(lists);
        assertThat(fixture.documents().projects()).isEqualTo(2);
    }

    @Test
    void one_relay_has_a_state_folder() throws Exception {
        start();
        assertThatThrownBy(() -> DeliveredDocuments.open(state, List.of(), InstantSource.system()))
                .hasMessageContaining("another");
    }
}
