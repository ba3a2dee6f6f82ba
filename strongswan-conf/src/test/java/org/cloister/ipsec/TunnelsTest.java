package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.ipsec.CharonHost.until;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.vici.IpsecException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two machines with a real charon each, ESP in user space. */
class TunnelsTest {
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
    void connect() throws IOException {
        ca = new TestCa(folder, "a");
        controller.host.connect(worker.host);
        controller.host.address(FIRST.text());
        worker.host.address(SECOND.text());
    }

    @AfterEach
    void tearDown() throws IOException {
        controller.close();
        worker.close();
    }

    private TunnelPlan plan(TunnelTestPeer end, TunnelCredential credential, TunnelKeyLifetimes lifetimes)
            throws IOException {
        boolean first = end == controller;
        PinnedPeer peer = first
                ? new PinnedPeer("w1", WORKER, SECOND, PinnedPeer.Start.WAIT)
                : new PinnedPeer("c", CONTROLLER, FIRST, PinnedPeer.Start.INITIATE);
        return TunnelPlan.of(
                        first ? CONTROLLER : WORKER,
                        first ? FIRST : SECOND,
                        credential,
                        ca.authorities(),
                        EspMode.USERSPACE)
                .with(List.of(peer))
                .with(lifetimes);
    }

    private void bothUp() throws Exception {
        controller.start();
        worker.start();
        controller.applyPlan(plan(controller, ca.issue(CONTROLLER), TunnelKeyLifetimes.DEFAULT));
        worker.applyPlan(plan(worker, ca.issue(WORKER), TunnelKeyLifetimes.DEFAULT));
        worker.await(TunnelEvent.Up.class, 5);
        controller.await(TunnelEvent.Up.class, 5);
        until("packets", () -> worker.pings(FIRST));
    }

    @Test
    void a_tunnel_comes_up_with_the_algorithms_of_the_design() throws Exception {
        bothUp();
        String sas = controller.host.swanctl("--list-sas");
        assertThat(sas)
                .contains("AES_GCM_16-256/PRF_HMAC_SHA2_384/ECP_384", "ESP:AES_GCM_16-256")
                .contains("10.70.0.1/32", "10.70.0.2/32")
                .contains("w1.worker.a.cloister.internal", "c.controller.a.cloister.internal");
        assertThat(controller.tunnels().states()).containsEntry("w1", true);
        TunnelView view = TunnelView.read(controller.host.socket(), Duration.ZERO);
        assertThat(view.explain("cloister-w1", null, Instant.now())).isEqualTo(new TunnelExplanation(true, "up", ""));
        assertThat(view.loaded().get("cloister-w1"))
                .isEqualTo(new TunnelView.Loaded(
                        "cloister-w1",
                        CONTROLLER.toString(),
                        "10.70.0.1",
                        WORKER.toString(),
                        "10.70.0.2",
                        List.of("10.70.0.2/32")));
        assertThat(view.of("cloister-w1").get(0).children().get(0).bytesIn()).isPositive();
    }

    @Test
    void an_initiator_that_comes_first_is_heard_within_a_second_of_its_peer() throws Exception {
        worker.start();
        worker.applyPlan(plan(worker, ca.issue(WORKER), TunnelKeyLifetimes.DEFAULT));
        // The peer's machine is there and its charon is not; then charon is and has no connections yet.
        TimeUnit.MILLISECONDS.sleep(1500);
        controller.start();
        TimeUnit.MILLISECONDS.sleep(1500);
        TunnelCredential credential = ca.issue(CONTROLLER);
        long from = System.nanoTime();
        controller.applyPlan(plan(controller, credential, TunnelKeyLifetimes.DEFAULT));
        worker.await(TunnelEvent.Up.class, 5);
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(Duration.ofMillis(1500));
    }

    /** With the guard at both ends, which lets the tunnel's packets through and no others. */
    @Test
    void carries_packets_up_to_the_computed_size_in_one_piece() throws Exception {
        TunnelMtu mtu = new TunnelMtu(1400, EspMode.USERSPACE);
        controller.host.run("ip", "link", "set", "eth0", "mtu", "1400");
        worker.host.run("ip", "link", "set", "eth0", "mtu", "1400");
        TunnelGuard guard = TunnelGuard.of("eth0", Ipv4Network.parse("10.70.0.0/24"), mtu);
        guard.install(controller.host.nft());
        guard.install(worker.host.nft());
        bothUp();
        // The device's own MTU, 1400, is too wide here.
        assertThat(fragments(mtu.inner() - 1)).isZero();
        assertThat(fragments(mtu.inner())).isZero();
        assertThat(fragments(mtu.inner() + 1)).isPositive();
        worker.host.run("ip", "link", "set", EspMode.DEVICE, "mtu", Integer.toString(mtu.inner()));
        controller.host.run("ip", "link", "set", EspMode.DEVICE, "mtu", Integer.toString(mtu.inner()));
        assertThat(pingsWithoutFragments(mtu.inner() - 1)).isTrue();
        assertThat(pingsWithoutFragments(mtu.inner())).isTrue();
        assertThat(pingsWithoutFragments(mtu.inner() + 1)).isFalse();
        guard.verify(worker.host.nft());
    }

    /** Pieces that one packet of that length was cut into on its way out. */
    private long fragments(int length) throws IOException {
        long before = Long.parseLong(worker.host.snmp("Ip:", "FragCreates"));
        pingsWithoutFragments(length);
        return Long.parseLong(worker.host.snmp("Ip:", "FragCreates")) - before;
    }

    private boolean pingsWithoutFragments(int length) {
        try {
            worker.host.run("ping", "-c1", "-W1", "-M", "do", "-s", Integer.toString(length - 28), FIRST.text());
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void a_peer_that_dies_is_known_within_ten_seconds_and_back_when_it_is() throws Exception {
        bothUp();
        controller.host.killCharon();
        long from = System.nanoTime();
        TunnelEvent.Down down = worker.await(TunnelEvent.Down.class, 12);
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(Duration.ofSeconds(10));
        assertThat(down.cause()).isEqualTo(TunnelFailureCause.PEER_SILENT);
        assertThat(controller.await(TunnelEvent.CharonState.class, 1).answers()).isFalse();
        controller.host.startCharon();
        worker.await(TunnelEvent.Up.class, 5);
        controller.await(TunnelEvent.Up.class, 5);
        until("packets", () -> worker.pings(FIRST));
    }

    @Test
    void a_restarted_charon_of_our_own_has_all_again() throws Exception {
        bothUp();
        worker.host.killCharon();
        assertThat(worker.await(TunnelEvent.CharonState.class, 2).answers()).isFalse();
        worker.await(TunnelEvent.Down.class, 2);
        worker.host.startCharon();
        worker.await(TunnelEvent.Up.class, 5);
        until("packets", () -> worker.pings(FIRST));
    }

    @Test
    void both_kinds_of_keys_are_renewed_in_their_time() throws Exception {
        controller.start();
        worker.start();
        TunnelKeyLifetimes shortest =
                new TunnelKeyLifetimes(Duration.ofSeconds(3), Duration.ofSeconds(5), Duration.ofSeconds(60));
        // One end renews: when both do at once, charon tells only one of them.
        controller.applyPlan(plan(controller, ca.issue(CONTROLLER), TunnelKeyLifetimes.DEFAULT));
        worker.applyPlan(plan(worker, ca.issue(WORKER), shortest));
        worker.await(TunnelEvent.Up.class, 5);
        worker.await(TunnelEvent.Rekeyed.class, 8);
        until("a rekeyed connection", () -> {
            try {
                return worker.host.log().contains("rekeyed between");
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(worker.pings(FIRST)).isTrue();
        assertThat(worker.events).noneMatch(TunnelEvent.Down.class::isInstance);
    }

    @Test
    void a_new_certificate_of_either_end_takes_over_without_a_gap() throws Exception {
        bothUp();
        for (TunnelTestPeer each : List.of(worker, controller)) {
            Process pings = worker.host
                    .inside("ping", "-i", "0.02", "-q", "-w", "4", FIRST.text())
                    .start();
            TimeUnit.MILLISECONDS.sleep(300);
            Set<Long> before = ids(each);
            each.applyPlan(plan(each, ca.issue(each == worker ? WORKER : CONTROLLER), TunnelKeyLifetimes.DEFAULT));
            until(
                    "another connection, alone",
                    () -> ids(each).size() == 1 && !ids(each).equals(before));
            String output = new String(pings.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(lost(output)).as(output).isLessThanOrEqualTo(2);
            until("the former key's end", () -> keys(each) == 1);
        }
        assertThat(worker.events).noneMatch(TunnelEvent.Down.class::isInstance);
        assertThat(controller.events).noneMatch(TunnelEvent.Down.class::isInstance);
    }

    @Test
    void a_peer_that_leaves_the_plan_has_no_tunnel_and_gets_none() throws Exception {
        bothUp();
        TunnelPlan without = plan(controller, ca.issue(CONTROLLER), TunnelKeyLifetimes.DEFAULT);
        controller.applyPlan(without.revoking(Set.of("w1"), List.of()));
        TunnelEvent.Down down = worker.await(TunnelEvent.Down.class, 5);
        assertThat(down.cause())
                .isIn(
                        TunnelFailureCause.PEER_CLOSED,
                        TunnelFailureCause.PEER_REFUSED,
                        TunnelFailureCause.PEER_UNPREPARED,
                        null);
        until("no connection", () -> ids(controller).isEmpty());
        assertThat(controller.host.swanctl("--list-conns")).doesNotContain("cloister-w1");
    }

    @Test
    void a_connection_of_another_is_left_alone_and_one_of_ours_that_vanished_is_loaded_again() throws Exception {
        bothUp();
        Path other = folder.resolve("swanctl.conf");
        Files.writeString(other, "connections {\n other {\n  remote_addrs = 10.70.0.9\n }\n}\n");
        controller.host.swanctl("--load-conns", "--file", other.toString());
        until("ours again", () -> {
            try {
                String conns = controller.host.swanctl("--list-conns");
                return conns.contains("cloister-w1") && conns.contains("other");
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void a_plan_told_while_charon_is_not_there_is_an_error_and_carried_out_later() throws Exception {
        TunnelPlan plan = plan(worker, ca.issue(WORKER), TunnelKeyLifetimes.DEFAULT);
        assertThatThrownBy(() -> worker.applyPlan(plan)).hasCauseInstanceOf(IpsecException.Disconnected.class);
        worker.host.startCharon();
        until("the connection", () -> {
            try {
                return worker.host.swanctl("--list-conns").contains("cloister-c");
            } catch (IOException e) {
                return false;
            }
        });
    }

    private static Set<Long> ids(TunnelTestPeer end) {
        try {
            Matcher found = Pattern.compile("#(\\d+), ESTABLISHED").matcher(end.host.swanctl("--list-sas"));
            Set<Long> ids = new HashSet<>();
            while (found.find()) {
                ids.add(Long.parseLong(found.group(1)));
            }
            return ids;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long keys(TunnelTestPeer end) {
        try {
            return end.host
                            .log()
                            .lines()
                            .filter(line -> line.contains("] loaded ANY private key"))
                            .count()
                    - end.host
                            .log()
                            .lines()
                            .filter(line -> line.contains("] unloaded private key"))
                            .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static int lost(String output) {
        Matcher numbers =
                Pattern.compile("(\\d+) packets transmitted, (\\d+) received").matcher(output);
        assertThat(numbers.find()).isTrue();
        return Integer.parseInt(numbers.group(1)) - Integer.parseInt(numbers.group(2));
    }
}
