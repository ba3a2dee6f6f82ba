package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.lab.CharonPair;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.Poll;
import org.cloister.lab.ProjectKeys;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.tunnel.Charon;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.tunnel.ProjectTunnels;
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
    private static final Machine CONTROLLER = new Machine("c", Identity.controller("c", "a"), new Address("10.70.0.1"));
    private static final Machine WORKER = new Machine("w1", Identity.worker("w1", "a"), new Address("10.70.0.2"));
    private static final Duration SOON = Duration.ofSeconds(15);
    private static final Duration DAY = Duration.ofHours(24);

    private final ProjectKeys keys = ProjectKeys.make("a");

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
                FrameSocket.open(pair.end(1).network(), "eth0"),
                FrameSocket.open(pair.end(2).network(), "eth0")));
        for (int i = 1; i <= 2; i++) {
            pair.end(i).command("ip", "link", "set", "eth0", "down").succeed();
            String pattern = HexFormat.of().formatHex(Wiretap.MARKER.getBytes(StandardCharsets.US_ASCII));
            String ping = "ping -q -i 0.05 -s 64 -p " + pattern + " 10.70.0." + (3 - i);
            pair.end(i)
                    .command("sh", "-c", "setsid sh -c 'while :; do " + ping + "; sleep 0.05; done' >/dev/null 2>&1 &")
                    .succeed();
        }
    }

    @AfterEach
    void end() throws IOException {
        wire.close();
        pair.close();
    }

    @Test
    void nothing_but_ipsec_with_the_plans_machines_from_the_first_address_to_the_last() throws Exception {
        NetworkPlan alone = network(1, List.of());
        Uplink controller = new Uplink(programs(1));
        Uplink worker = new Uplink(programs(2));
        controller.up(alone);
        worker.up(network(2, List.of()));
        // Another agent after it was killed.
        new Uplink(programs(2)).up(network(2, List.of()));
        assertThat(programs(2).succeed("ip", "route", "show", "table", "local", "dev", "lo"))
                .contains("local 127.0.0.0/8 proto kernel scope host src 127.0.0.1 quickack 1")
                .contains("local 127.0.0.1 proto kernel scope host src 127.0.0.1 quickack 1");
        assertThat(programs(2).succeed("ip", "-6", "address", "show", "dev", "eth0"))
                .isEmpty();

        Charon first = new Charon(programs(1), pair.end(1).folder(), Esp.USERSPACE);
        Charon second = new Charon(programs(2), pair.end(2).folder(), Esp.USERSPACE);
        first.start();
        second.start();
        try (ProjectTunnels there = ProjectTunnels.open(first.socket(), plan(CONTROLLER), event -> {});
                ProjectTunnels here = ProjectTunnels.open(
                        second.socket(),
                        plan(WORKER).with(Machine.peersOfWorker(CONTROLLER, List.of())),
                        event -> {})) {
            there.add(Machine.peersOfController(List.of(WORKER)).get(0));
            assertThatThrownBy(() -> here.awaitUp("c", Duration.ofSeconds(3)))
                    .as("the controlling VM's table knows no worker")
                    .hasMessageContaining("tunnel to c: want it within 3 s");
            controller.replacePeers(alone.with(List.of(WORKER.address())));
            here.awaitUp("c", SOON);
            flows();

            second.processes().forEach(ProcessHandle::destroyForcibly);
            Poll.until("news of charon's end", SOON, "read charon.log", () -> !here.isUp("c"));
            nothingInClear();
            here.awaitUp("c", SOON);
            flows();

            there.remove("w1");
            Poll.until("the tunnel's end", SOON, "read charon.log", () -> !here.isUp("c"));
            nothingInClear();
        } finally {
            first.stop();
            second.stop();
        }
        assertThat(second.processes()).isEmpty();
        worker.down(network(2, List.of()));
        assertThat(programs(2).succeed("ip", "-brief", "address", "show", "dev", "eth0"))
                .matches("eth0@\\S+ +DOWN *\n");
        nothingInClear();
    }

    @Test
    void without_its_guard_a_link_is_down() throws Exception {
        NetworkPlan plan = network(2, List.of());
        Uplink worker = new Uplink(programs(2));
        new Uplink(programs(1)).up(network(1, List.of()));
        pair.end(2).command("mount", "--bind", "/bin/false", "/usr/sbin/nft").succeed();
        assertThatThrownBy(() -> worker.up(plan)).isInstanceOf(IOException.class);
        assertThat(link()).doesNotContain("UP", "10.70");
        pair.end(2).command("umount", "/usr/sbin/nft").succeed();

        worker.up(plan);
        worker.verify(plan);
        assertThat(link()).contains("UP", "10.70.0.2/24");
        for (String table : List.of("cloister", "cloister_guard")) {
            pair.end(2).command("nft", "flush", "table", "inet", table).succeed();
            assertThatThrownBy(() -> worker.verify(plan)).hasMessageContaining(table);
            worker.up(plan);
            worker.verify(plan);
        }
        // An address that somebody added, such as a job that became root.
        pair.end(2)
                .command("ip", "address", "add", "10.70.0.77/24", "dev", "eth0")
                .succeed();
        assertThatThrownBy(() -> worker.verify(plan)).hasMessageContaining("10.70.0.77/24");
        worker.up(plan);
        assertThat(link()).doesNotContain("10.70.0.77");
        NetworkPlan elsewhere =
                new NetworkPlan("02:00:00:00:00:01", plan.own(), 24, 1500, plan.controller(), List.of(), Esp.USERSPACE);
        assertThatThrownBy(() -> worker.up(elsewhere)).hasMessageContaining("want one, have []");
        nothingInClear();
    }

    private String link() throws IOException {
        return programs(2).succeed("ip", "-brief", "address", "show", "dev", "eth0");
    }

    private Programs programs(int end) {
        return Programs.behind(pair.end(end).command().argv());
    }

    private NetworkPlan network(int end, List<Address> peers) throws IOException {
        String mac = programs(end).succeed("cat", "/sys/class/net/eth0/address").strip();
        Address own = end == 1 ? CONTROLLER.address() : WORKER.address();
        return new NetworkPlan(mac, own, 24, 1500, CONTROLLER.address(), peers, Esp.USERSPACE);
    }

    private Plan plan(Machine self) throws IOException {
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
