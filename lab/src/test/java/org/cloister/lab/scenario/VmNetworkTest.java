package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.lab.CharonPair;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.Poll;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A controlling VM's and a worker's network, each in namespaces, as agent-vm brings it up, with ESP in user space. Both send a
 * marker to the other all the time, as soon as there is an address.
 */
@Tag("scenario")
@Tag("vm")
class VmNetworkTest {
    private static final TunnelPeer CONTROLLER =
            new TunnelPeer("c", TunnelIdentity.controller("c", "a"), new Ipv4Address("10.70.0.1"));
    private static final TunnelPeer WORKER =
            new TunnelPeer("w1", TunnelIdentity.worker("w1", "a"), new Ipv4Address("10.70.0.2"));
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Duration DAY = Duration.ofHours(24);

    private final LabProjectKeys keys = LabProjectKeys.create("a");

    @SuppressWarnings("NullAway.Init") // set before each test
    private CharonPair pair;

    @SuppressWarnings("NullAway.Init")
    private Wiretap wire;

    VmNetworkTest() throws IOException {}

    @BeforeEach
    void start() throws IOException {
        pair = CharonPair.start(
                LabHome.fromEnvironment(),
                new LabName("vm-network-" + ProcessHandle.current().pid()));
        wire = new Wiretap(List.of(
                FrameSocket.open(pair.side(1).network(), "eth0"),
                FrameSocket.open(pair.side(2).network(), "eth0")));
        for (int i = 1; i <= 2; i++) {
            pair.side(i).command("ip", "link", "set", "eth0", "down").succeed();
            String pattern = HexFormat.of().formatHex(Wiretap.MARKER.getBytes(StandardCharsets.US_ASCII));
            String ping = "ping -q -i 0.05 -s 64 -p " + pattern + " 10.70.0." + (3 - i);
            pair.side(i)
                    .command("sh", "-c", "setsid sh -c 'while :; do " + ping + "; sleep 0.05; done' >/dev/null 2>&1 &")
                    .succeed();
        }
    }

    @AfterEach
    void tearDown() throws IOException {
        wire.close();
        pair.close();
    }

    @Test
    void nothing_but_ipsec_with_the_plans_machines_from_the_first_address_to_the_last() throws Exception {
        NetworkPlan alone = network(1, List.of());
        ProjectInterface controller = new ProjectInterface(programs(1));
        ProjectInterface worker = new ProjectInterface(programs(2));
        controller.up(alone);
        worker.up(network(2, List.of()));
        // Another agent after it was killed.
        new ProjectInterface(programs(2)).up(network(2, List.of()));
        assertThat(programs(2).runChecked("ip", "route", "show", "table", "local", "dev", "lo"))
                .contains("local 127.0.0.1 ");
        assertThat(programs(2).runChecked("ip", "-6", "address", "show", "dev", "eth0"))
                .isEmpty();

        CharonDaemon first = new CharonDaemon(programs(1), pair.side(1).folder(), EspMode.USERSPACE);
        CharonDaemon second = new CharonDaemon(programs(2), pair.side(2).folder(), EspMode.USERSPACE);
        first.start();
        second.start();
        try (ProjectTunnels there = ProjectTunnels.open(first.socket(), plan(CONTROLLER), event -> {});
                ProjectTunnels here = ProjectTunnels.open(
                        second.socket(),
                        plan(WORKER).with(TunnelPeer.peersOfWorker(CONTROLLER, List.of())),
                        event -> {})) {
            there.add(TunnelPeer.peersOfController(List.of(WORKER)));
            assertThatThrownBy(() -> here.awaitUp("c", Duration.ofSeconds(3)))
                    .as("the controlling VM's table knows no worker")
                    .hasMessageContaining("tunnel to c: it is not up after 3 s");
            controller.replacePeers(alone.with(List.of(WORKER.address())));
            here.awaitUp("c", SOON);
            flows();

            second.processes().forEach(ProcessHandle::destroyForcibly);
            Poll.until("news of charon's end", SOON, "read charon.log", () -> !here.isUp("c"));
            nothingInClear();
            here.awaitUp("c", SOON);
            flows();

            there.remove(List.of("w1"));
            Poll.until("the tunnel's end", SOON, "read charon.log", () -> !here.isUp("c"));
            nothingInClear();
        } finally {
            first.stop();
            second.stop();
        }
        assertThat(second.processes()).isEmpty();
        worker.down(network(2, List.of()));
        assertThat(programs(2).runChecked("ip", "-brief", "address", "show", "dev", "eth0"))
                .matches("eth0@\\S+ +DOWN *\n");
        nothingInClear();
    }

    @Test
    void without_its_guard_a_link_is_down() throws Exception {
        NetworkPlan plan = network(2, List.of());
        ProjectInterface worker = new ProjectInterface(programs(2));
        new ProjectInterface(programs(1)).up(network(1, List.of()));
        pair.side(2).command("mount", "--bind", "/bin/false", "/usr/sbin/nft").succeed();
        assertThatThrownBy(() -> worker.up(plan)).isInstanceOf(IOException.class);
        assertThat(link()).doesNotContain("UP", "10.70");
        pair.side(2).command("umount", "/usr/sbin/nft").succeed();

        worker.up(plan);
        worker.verify(plan);
        assertThat(link()).contains("UP", "10.70.0.2/24");
        for (String table : List.of("cloister", "cloister_guard")) {
            pair.side(2).command("nft", "flush", "table", "inet", table).succeed();
            assertThatThrownBy(() -> worker.verify(plan)).hasMessageContaining(table);
            worker.up(plan);
            worker.verify(plan);
        }
        // An address that somebody added, such as a job that became root.
        pair.side(2)
                .command("ip", "address", "add", "10.70.0.77/24", "dev", "eth0")
                .succeed();
        assertThatThrownBy(() -> worker.verify(plan)).hasMessageContaining("10.70.0.77/24");
        worker.up(plan);
        assertThat(link()).doesNotContain("10.70.0.77");
        NetworkPlan elsewhere = new NetworkPlan(
                "02:00:00:00:00:01", plan.own(), 24, 1500, plan.controller(), List.of(), EspMode.USERSPACE);
        assertThatThrownBy(() -> worker.up(elsewhere)).hasMessageContaining("want one, have []");
        nothingInClear();
    }

    private String link() throws IOException {
        return programs(2).runChecked("ip", "-brief", "address", "show", "dev", "eth0");
    }

    private ProcessRunner programs(int end) {
        return ProcessRunner.withPrefix(pair.side(end).command().argv());
    }

    private NetworkPlan network(int end, List<Ipv4Address> peers) throws IOException {
        String mac =
                programs(end).runChecked("cat", "/sys/class/net/eth0/address").strip();
        Ipv4Address own = end == 1 ? CONTROLLER.address() : WORKER.address();
        return new NetworkPlan(mac, own, 24, 1500, CONTROLLER.address(), peers, EspMode.USERSPACE);
    }

    private TunnelPlan plan(TunnelPeer self) throws IOException {
        return keys.plan(self.identity(), self.address(), DAY);
    }

    private void flows() throws Exception {
        long before = wire.encrypted();
        Poll.until("packets in the tunnel", SOON, "read charon.log", () -> wire.encrypted() > before + 20);
        nothingInClear();
    }

    private void nothingInClear() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(300);
        assertThat(wire.clear()).as("frames with the marker").isZero();
        assertThat(wire.strange())
                .as("frames that are neither ARP, IKE nor ESP")
                .isZero();
    }
}
