package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.ipsec.CharonHost.until;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.vici.IpsecException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A peer that is not the planned one gets no tunnel, and the log says why; with two real charons. */
class TunnelRefusalTest {
    private static final Ipv4Address FIRST = new Ipv4Address("10.70.0.1");
    private static final Ipv4Address SECOND = new Ipv4Address("10.70.0.2");
    private static final TunnelIdentity CONTROLLER = TunnelIdentity.controller("c", "a");
    private static final TunnelIdentity WORKER = TunnelIdentity.worker("w1", "a");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private TestCa ca;

    private final TunnelTestPeer controller = new TunnelTestPeer();
    private final TunnelTestPeer worker = new TunnelTestPeer();

    @BeforeEach
    void connect() throws Exception {
        ca = new TestCa(folder, "a");
        controller.host.connect(worker.host);
        controller.host.address(FIRST.text());
        worker.host.address(SECOND.text());
        controller.start();
        worker.start();
        controller.applyPlan(TunnelPlan.of(CONTROLLER, FIRST, ca.issue(CONTROLLER), ca.authorities(), EspMode.USERSPACE)
                .with(List.of(new PinnedPeer("w1", WORKER, SECOND, PinnedPeer.Start.WAIT))));
    }

    @AfterEach
    void tearDown() throws IOException {
        controller.close();
        worker.close();
    }

    private TunnelPlan plan(TunnelIdentity self, Ipv4Address local, TunnelCredential credential, TestCa trusted)
            throws IOException {
        return TunnelPlan.of(self, local, credential, trusted.authorities(), EspMode.USERSPACE)
                .with(List.of(new PinnedPeer("c", CONTROLLER, FIRST, PinnedPeer.Start.INITIATE)));
    }

    private void refused(TunnelPlan plan, TunnelFailureCause here, TunnelFailureCause there) throws Exception {
        worker.applyPlan(plan);
        until("a refusal here", () -> hasLogged(worker, here));
        until("its reason there", () -> hasLogged(controller, there));
        TimeUnit.MILLISECONDS.sleep(1_000);
        assertThat(worker.tunnels().states()).containsEntry("c", false);
        assertThat(controller.tunnels().states()).containsEntry("w1", false);
        assertThat(controller.host.swanctl("--list-sas")).doesNotContain("INSTALLED");
        TunnelExplanation explanation =
                TunnelView.read(worker.host.socket(), Duration.ofSeconds(2)).explain("cloister-c", null, Instant.now());
        assertThat(explanation.why())
                .isEqualTo(there == TunnelFailureCause.EXPIRED ? explanation.why() : here.words())
                .doesNotContain("nobody");
        assertThat(worker.pings(FIRST) && controller.host.swanctl("--list-sas").contains("INSTALLED"))
                .isFalse();
    }

    private static boolean hasLogged(TunnelTestPeer end, TunnelFailureCause cause) {
        try {
            return end.host.log().lines().anyMatch(line -> TunnelFailureCause.of(line) == cause);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void another_projects_certificate_of_the_same_name() throws Exception {
        TestCa other = new TestCa(folder, "b");
        refused(
                plan(WORKER, SECOND, other.issue(WORKER), ca),
                TunnelFailureCause.PEER_REFUSED,
                TunnelFailureCause.UNTRUSTED);
    }

    @Test
    void another_workers_certificate() throws Exception {
        TunnelIdentity second = TunnelIdentity.worker("w2", "a");
        refused(
                plan(second, SECOND, ca.issue(second), ca),
                TunnelFailureCause.PEER_REFUSED,
                TunnelFailureCause.NO_CONFIG);
    }

    @Test
    void the_right_certificate_at_another_address() throws Exception {
        Ipv4Address third = new Ipv4Address("10.70.0.3");
        worker.host.address(third.text());
        refused(
                plan(WORKER, third, ca.issue(WORKER), ca),
                TunnelFailureCause.PEER_UNPREPARED,
                TunnelFailureCause.NO_CONFIG);
    }

    @Test
    void an_expired_certificate() throws Exception {
        TunnelCredential expired = ca.issue(
                WORKER,
                384,
                "--not-before",
                "20260101000000",
                "--not-after",
                "20260102000000",
                "--dateform",
                "%Y%m%d%H%M%S");
        refused(plan(WORKER, SECOND, expired, ca), TunnelFailureCause.PEER_REFUSED, TunnelFailureCause.EXPIRED);
    }

    /** What a clock that is a day off looks like from the other side. */
    @Test
    void a_certificate_of_tomorrow() throws Exception {
        TunnelCredential early = ca.issue(
                WORKER,
                384,
                "--not-before",
                "20990101000000",
                "--not-after",
                "20990102000000",
                "--dateform",
                "%Y%m%d%H%M%S");
        refused(plan(WORKER, SECOND, early, ca), TunnelFailureCause.PEER_REFUSED, TunnelFailureCause.EXPIRED);
    }

    @Test
    void a_weaker_key() throws Exception {
        refused(
                plan(WORKER, SECOND, ca.issue(WORKER, 256, "--lifetime", "1"), ca),
                TunnelFailureCause.PEER_REFUSED,
                TunnelFailureCause.WRONG_KEY);
    }

    @Test
    void another_key_than_the_certificates() throws Exception {
        TunnelCredential right = ca.issue(WORKER);
        TunnelCredential wrong =
                new TunnelCredential(right.certificate(), ca.issue(WORKER).key());
        worker.applyPlan(plan(WORKER, SECOND, wrong, ca));
        until("a refusal", () -> hasLogged(worker, TunnelFailureCause.NO_OWN_KEY));
        assertThat(worker.tunnels().states()).containsEntry("c", false);
    }

    /** charon takes no key that is none; the removal of a peer does not wait for that. */
    @Test
    void a_peer_that_is_taken_away_goes_even_when_something_else_is_refused() throws Exception {
        worker.applyPlan(plan(WORKER, SECOND, ca.issue(WORKER), ca));
        worker.await(TunnelEvent.Up.class, 5);
        TunnelCredential broken = new TunnelCredential(ca.issue(CONTROLLER).certificate(), TestCa.secret(new byte[40]));
        TunnelPlan without = TunnelPlan.of(CONTROLLER, FIRST, broken, ca.authorities(), EspMode.USERSPACE);
        assertThatThrownBy(() -> controller.applyPlan(without)).hasCauseInstanceOf(IpsecException.Refused.class);
        worker.await(TunnelEvent.Down.class, 5);
        until("no connection", () -> {
            try {
                return !controller.host.swanctl("--list-conns").contains("cloister-w1");
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void a_revoked_certificate_at_once_and_for_good() throws Exception {
        TunnelCredential revoked = ca.issue(WORKER);
        DerRevocationList list = ca.revokeLast();
        worker.applyPlan(plan(WORKER, SECOND, revoked, ca));
        worker.await(TunnelEvent.Up.class, 5);
        TunnelPlan before = TunnelPlan.of(CONTROLLER, FIRST, ca.issue(CONTROLLER), ca.authorities(), EspMode.USERSPACE)
                .with(List.of(new PinnedPeer("w1", WORKER, SECOND, PinnedPeer.Start.WAIT)));
        long from = System.nanoTime();
        controller.applyPlan(before.revoking(Set.of("w1"), List.of(list)));
        worker.await(TunnelEvent.Down.class, 5);
        assertThat(System.nanoTime() - from).isLessThan(TimeUnit.SECONDS.toNanos(5));
        // Even for a peer that is wanted again by mistake the list holds.
        controller.applyPlan(before.revoking(Set.of(), List.of(list)));
        until("the reason", () -> hasLogged(controller, TunnelFailureCause.REVOKED));
        assertThat(worker.tunnels().states()).containsEntry("c", false);
    }
}
