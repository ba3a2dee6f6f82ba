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
import org.cloister.ipsec.vici.IpsecException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who is not whom the plan says gets no tunnel, and the log says why; with two real charons. */
class RefusalTest {
    private static final Address FIRST = new Address("10.70.0.1");
    private static final Address SECOND = new Address("10.70.0.2");
    private static final Identity CONTROLLER = Identity.controller("c", "a");
    private static final Identity WORKER = Identity.worker("w1", "a");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private TestCa ca;

    private final End controller = new End();
    private final End worker = new End();

    @BeforeEach
    void connect() throws Exception {
        ca = new TestCa(folder, "a");
        controller.host.connect(worker.host);
        controller.host.address(FIRST.text());
        worker.host.address(SECOND.text());
        controller.start();
        worker.start();
        controller.tell(Plan.of(CONTROLLER, FIRST, ca.issue(CONTROLLER), ca.authorities(), Esp.USERSPACE)
                .with(List.of(new Peer("w1", WORKER, SECOND, Peer.Start.WAIT))));
    }

    @AfterEach
    void end() throws IOException {
        controller.close();
        worker.close();
    }

    private Plan plan(Identity self, Address local, Credential credential, TestCa trusted) throws IOException {
        return Plan.of(self, local, credential, trusted.authorities(), Esp.USERSPACE)
                .with(List.of(new Peer("c", CONTROLLER, FIRST, Peer.Start.INITIATE)));
    }

    private void refused(Plan plan, Cause here, Cause there) throws Exception {
        worker.tell(plan);
        until("a refusal here", () -> said(worker, here));
        until("its reason there", () -> said(controller, there));
        TimeUnit.MILLISECONDS.sleep(1_000);
        assertThat(worker.tunnels().states()).containsEntry("c", false);
        assertThat(controller.tunnels().states()).containsEntry("w1", false);
        assertThat(controller.host.swanctl("--list-sas")).doesNotContain("INSTALLED");
        Explanation explanation =
                TunnelView.read(worker.host.socket(), Duration.ofSeconds(2)).explain("cloister-c", null, Instant.now());
        assertThat(explanation.why())
                .isEqualTo(there == Cause.EXPIRED ? explanation.why() : here.words())
                .doesNotContain("nobody");
        assertThat(worker.pings(FIRST) && controller.host.swanctl("--list-sas").contains("INSTALLED"))
                .isFalse();
    }

    private static boolean said(End end, Cause cause) {
        try {
            return end.host.log().lines().anyMatch(line -> Cause.of(line) == cause);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void another_projects_certificate_of_the_same_name() throws Exception {
        TestCa other = new TestCa(folder, "b");
        refused(plan(WORKER, SECOND, other.issue(WORKER), ca), Cause.PEER_REFUSED, Cause.UNTRUSTED);
    }

    @Test
    void another_workers_certificate() throws Exception {
        Identity second = Identity.worker("w2", "a");
        refused(plan(second, SECOND, ca.issue(second), ca), Cause.PEER_REFUSED, Cause.NO_CONFIG);
    }

    @Test
    void the_right_certificate_at_another_address() throws Exception {
        Address third = new Address("10.70.0.3");
        worker.host.address(third.text());
        refused(plan(WORKER, third, ca.issue(WORKER), ca), Cause.PEER_UNPREPARED, Cause.NO_CONFIG);
    }

    @Test
    void an_expired_certificate() throws Exception {
        Credential expired = ca.issue(
                WORKER,
                384,
                "--not-before",
                "20260101000000",
                "--not-after",
                "20260102000000",
                "--dateform",
                "%Y%m%d%H%M%S");
        refused(plan(WORKER, SECOND, expired, ca), Cause.PEER_REFUSED, Cause.EXPIRED);
    }

    /** What a clock that is a day off looks like from the other side. */
    @Test
    void a_certificate_of_tomorrow() throws Exception {
        Credential early = ca.issue(
                WORKER,
                384,
                "--not-before",
                "20990101000000",
                "--not-after",
                "20990102000000",
                "--dateform",
                "%Y%m%d%H%M%S");
        refused(plan(WORKER, SECOND, early, ca), Cause.PEER_REFUSED, Cause.EXPIRED);
    }

    @Test
    void a_weaker_key() throws Exception {
        refused(
                plan(WORKER, SECOND, ca.issue(WORKER, 256, "--lifetime", "1"), ca),
                Cause.PEER_REFUSED,
                Cause.WRONG_KEY);
    }

    @Test
    void another_key_than_the_certificates() throws Exception {
        Credential right = ca.issue(WORKER);
        Credential wrong = new Credential(right.certificate(), ca.issue(WORKER).key());
        worker.tell(plan(WORKER, SECOND, wrong, ca));
        until("a refusal", () -> said(worker, Cause.NO_OWN_KEY));
        assertThat(worker.tunnels().states()).containsEntry("c", false);
    }

    /** charon takes no key that is none; the removal of a peer does not wait for that. */
    @Test
    void a_peer_that_is_taken_away_goes_even_when_something_else_is_refused() throws Exception {
        worker.tell(plan(WORKER, SECOND, ca.issue(WORKER), ca));
        worker.await(TunnelEvent.Up.class, 5);
        Credential broken = new Credential(ca.issue(CONTROLLER).certificate(), TestCa.secret(new byte[40]));
        Plan without = Plan.of(CONTROLLER, FIRST, broken, ca.authorities(), Esp.USERSPACE);
        assertThatThrownBy(() -> controller.tell(without)).hasCauseInstanceOf(IpsecException.Refused.class);
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
        Credential revoked = ca.issue(WORKER);
        Crl list = ca.revokeLast();
        worker.tell(plan(WORKER, SECOND, revoked, ca));
        worker.await(TunnelEvent.Up.class, 5);
        Plan before = Plan.of(CONTROLLER, FIRST, ca.issue(CONTROLLER), ca.authorities(), Esp.USERSPACE)
                .with(List.of(new Peer("w1", WORKER, SECOND, Peer.Start.WAIT)));
        long from = System.nanoTime();
        controller.tell(before.revoking(Set.of("w1"), List.of(list)));
        worker.await(TunnelEvent.Down.class, 5);
        assertThat(System.nanoTime() - from).isLessThan(TimeUnit.SECONDS.toNanos(5));
        // Even for a peer that is wanted again by mistake the list holds.
        controller.tell(before.revoking(Set.of(), List.of(list)));
        until("the reason", () -> said(controller, Cause.REVOKED));
        assertThat(worker.tunnels().states()).containsEntry("c", false);
    }
}
