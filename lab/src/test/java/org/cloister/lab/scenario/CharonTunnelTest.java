package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.CharonSettings;
import org.cloister.ipsec.DerRevocationList;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelGuard;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelKeyLifetimes;
import org.cloister.ipsec.TunnelMtu;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.lab.CharonPair;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.Poll;
import org.cloister.lab.TunnelEnd;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.protocol.identity.CertificateAuthority;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A worker and a controlling VM, each a namespace with a real charon, our certificates and the guard. Each of the two sends
 * a marker to the other all the time; whatever happens, it is not to be seen on the cable.
 */
@Tag("scenario")
@Tag("ipsec")
@RotatedScenario(11)
class CharonTunnelTest {
    private static final Ipv4Address FIRST = new Ipv4Address("10.70.0.1");
    private static final Ipv4Address SECOND = new Ipv4Address("10.70.0.2");
    private static final Ipv4Network NETWORK = Ipv4Network.parse("10.70.0.0/24");
    private static final TunnelIdentity CONTROLLER = TunnelIdentity.controller("c", "a");
    private static final TunnelIdentity WORKER = TunnelIdentity.worker("w1", "a");
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Duration DAY = Duration.ofHours(24);

    private final LabProjectKeys keys = LabProjectKeys.create("a");

    @SuppressWarnings("NullAway.Init") // set before each test
    private CharonPair pair;

    @SuppressWarnings("NullAway.Init")
    private TunnelEnd controller;

    @SuppressWarnings("NullAway.Init")
    private TunnelEnd worker;

    @SuppressWarnings("NullAway.Init")
    private Wiretap wire;

    CharonTunnelTest() throws IOException {}

    @BeforeEach
    void start() throws IOException {
        LabName name = new LabName("tunnel-" + ProcessHandle.current().pid());
        pair = CharonPair.start(LabHome.fromEnvironment(), name);
        wire = new Wiretap(List.of(
                FrameSocket.open(pair.side(1).network(), "eth0"),
                FrameSocket.open(pair.side(2).network(), "eth0")));
        for (int i = 1; i <= 2; i++) {
            guard().install(pair.side(i).nft());
            pair.side(i).address("10.70.0." + i);
            sendMarkers(i, i == 1 ? SECOND : FIRST);
        }
        controller = new TunnelEnd(pair.side(1).socket());
        worker = new TunnelEnd(pair.side(2).socket());
    }

    @AfterEach
    void tearDown() throws Exception {
        controller.close();
        worker.close();
        wire.close();
        pair.close();
    }

    private static TunnelGuard guard() {
        return TunnelGuard.of("eth0", NETWORK, new TunnelMtu(1500, EspMode.USERSPACE));
    }

    /** Echo requests with the marker in them, every 10 ms, until the machine ends. */
    private void sendMarkers(int from, Ipv4Address to) throws IOException {
        String pattern = HexFormat.of().formatHex(Wiretap.MARKER.getBytes(StandardCharsets.US_ASCII));
        new ProcessBuilder(pair.side(from)
                        .command(
                                "sh",
                                "-c",
                                "while :; do ping -q -i 0.01 -s 64 -p " + pattern + " " + to + "; sleep 0.05; done")
                        .argv())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private TunnelPlan workersPlan(TunnelKeyLifetimes lifetimes) throws IOException {
        return keys.plan(WORKER, SECOND, DAY)
                .with(List.of(new PinnedPeer("c", CONTROLLER, FIRST, PinnedPeer.Start.INITIATE)))
                .with(lifetimes);
    }

    private TunnelPlan controllersPlan(TunnelKeyLifetimes lifetimes) throws IOException {
        return keys.plan(CONTROLLER, FIRST, DAY)
                .with(List.of(new PinnedPeer("w1", WORKER, SECOND, PinnedPeer.Start.WAIT)))
                .with(lifetimes);
    }

    private void bothUp(TunnelKeyLifetimes lifetimes) throws IOException {
        pair.side(1).startCharon();
        pair.side(2).startCharon();
        controller.applyPlan(controllersPlan(lifetimes));
        worker.applyPlan(workersPlan(lifetimes));
        worker.awaitUp("c", SOON);
        controller.awaitUp("w1", SOON);
        flows();
    }

    private void flows() throws IOException {
        long before = wire.encrypted();
        Poll.until("packets in the tunnel", SOON, "read charon.log", () -> wire.encrypted() > before + 20);
    }

    private void nothingInClear() {
        assertThat(wire.clear()).as("frames with the marker").isZero();
        assertThat(wire.strange())
                .as("frames that are neither ARP, IKE nor ESP")
                .isZero();
    }

    @Test
    void no_packet_is_clear_before_the_first_tunnel_or_through_all_changes_of_keys_and_certificates() throws Exception {
        TimeUnit.MILLISECONDS.sleep(500);
        assertThat(wire.encrypted()).isZero();
        nothingInClear();
        bothUp(new TunnelKeyLifetimes(Duration.ofSeconds(3), Duration.ofSeconds(5), Duration.ofSeconds(60)));
        Poll.until(
                "new keys of both kinds",
                SOON,
                "read charon.log",
                () -> pair.side(2).log().contains("rekeyed between")
                        && pair.side(2).log().contains("closing CHILD_SA"));
        flows();
        worker.applyPlan(workersPlan(TunnelKeyLifetimes.DEFAULT));
        controller.applyPlan(controllersPlan(TunnelKeyLifetimes.DEFAULT));
        flows();
        nothingInClear();
        guard().verify(pair.side(1).nft());
        guard().verify(pair.side(2).nft());
    }

    @Test
    void no_packet_is_clear_when_either_charon_is_killed_and_a_dead_peer_is_known_within_ten_seconds()
            throws Exception {
        bothUp(TunnelKeyLifetimes.DEFAULT);
        pair.side(1).killCharon();
        long from = System.nanoTime();
        worker.awaitDown("c", Duration.ofSeconds(12));
        assertThat(Duration.ofNanos(System.nanoTime() - from))
                .isLessThan(Duration.ofSeconds(10))
                .isGreaterThan(Duration.ofSeconds(1));
        assertThat(CharonSettings.DEAD_AFTER).isLessThan(Duration.ofSeconds(10));
        pair.side(2).killCharon();
        TimeUnit.MILLISECONDS.sleep(500);
        nothingInClear();
        pair.side(1).startCharon();
        pair.side(2).startCharon();
        worker.awaitUp("c", SOON);
        flows();
        nothingInClear();
    }

    @Test
    void no_packet_is_clear_after_a_revocation_which_acts_within_five_seconds_and_for_good() throws Exception {
        bothUp(TunnelKeyLifetimes.DEFAULT);
        byte[] list = keys.workers()
                .revoke(
                        List.of(new CertificateAuthority.Revocation(keys.lastSerial(), Instant.now())),
                        BigInteger.ONE,
                        Instant.now(),
                        DAY);
        long from = System.nanoTime();
        controller.applyPlan(controllersPlan(TunnelKeyLifetimes.DEFAULT)
                .revoking(Set.of("w1"), List.of(DerRevocationList.parse(list))));
        worker.awaitDown("c", SOON);
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isLessThan(Duration.ofSeconds(5));
        controller.applyPlan(
                controllersPlan(TunnelKeyLifetimes.DEFAULT).revoking(Set.of(), List.of(DerRevocationList.parse(list))));
        Poll.until(
                "the reason", SOON, "read charon.log", () -> pair.side(1).log().contains("certificate was revoked"));
        assertThat(worker.isUp("c")).isFalse();
        nothingInClear();
    }

    @Test
    void another_projects_worker_an_expired_one_and_one_of_another_name_get_no_tunnel() throws Exception {
        pair.side(1).startCharon();
        pair.side(2).startCharon();
        controller.applyPlan(controllersPlan(TunnelKeyLifetimes.DEFAULT));
        PinnedPeer there = new PinnedPeer("c", CONTROLLER, FIRST, PinnedPeer.Start.INITIATE);
        TunnelIdentity other = TunnelIdentity.worker("w2", "a");
        List<TunnelPlan> plans = List.of(
                LabProjectKeys.create("a").plan(WORKER, SECOND, DAY).trusting(keys.authorities()),
                keys.planAt(WORKER, SECOND, Instant.now().minus(Duration.ofDays(2)), DAY),
                keys.plan(other, SECOND, DAY));
        for (TunnelPlan plan : plans) {
            int before = refusals();
            worker.applyPlan(plan.with(List.of(there)));
            Poll.until("a refusal", SOON, "read charon.log", () -> refusals() > before);
            assertThat(worker.isUp("c")).isFalse();
        }
        worker.applyPlan(workersPlan(TunnelKeyLifetimes.DEFAULT));
        worker.awaitUp("c", SOON);
        flows();
        nothingInClear();
    }

    private int refusals() throws IOException {
        return pair.side(2).log().split("received AUTHENTICATION_FAILED", -1).length;
    }

    /** What the others show is the guard's doing: without it the same markers are on the cable. */
    @Test
    void without_the_guard_the_marker_is_seen() throws Exception {
        bothUp(TunnelKeyLifetimes.DEFAULT);
        nothingInClear();
        for (int i = 1; i <= 2; i++) {
            pair.side(i)
                    .command("/usr/sbin/nft", "delete", "table", "inet", TunnelGuard.TABLE)
                    .succeed();
        }
        flows();
        assertThat(wire.clear()).as("with the tunnel up").isZero();
        pair.side(1).killCharon();
        pair.side(2).killCharon();
        Poll.until("the marker", SOON, "read charon.log", () -> wire.clear() > 0);
    }

    @Test
    void agentctl_lists_and_explains_what_is_there() throws Exception {
        bothUp(TunnelKeyLifetimes.DEFAULT);
        assertThat(agentctl(2, "list").out())
                .contains("cloister-c", CONTROLLER.toString(), "up for", "guard", "eth0 10.70.0.0/24");
        assertThat(agentctl(2, "list").exit()).isZero();
        pair.side(1).killCharon();
        worker.awaitDown("c", SOON);
        LabCommand.Output silent = agentctl(2, "explain", "cloister-c");
        assertThat(silent.out()).contains("cloister-c: the peer does not answer");
        assertThat(silent.exit()).isEqualTo(2);
        pair.side(2)
                .command("/usr/sbin/nft", "flush", "table", "inet", TunnelGuard.TABLE)
                .succeed();
        assertThat(agentctl(2, "explain", "cloister-c").out()).contains("the guard is not in place");
    }

    private LabCommand.Output agentctl(int end, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "org.cloister.ctl.Agentctl",
                "tunnel"));
        argv.addAll(List.of(arguments));
        argv.addAll(List.of("--socket", pair.side(end).socket().toString()));
        assertThat(Files.exists(pair.side(end).socket())).isTrue();
        return pair.side(end).command(argv.toArray(String[]::new)).run();
    }
}
