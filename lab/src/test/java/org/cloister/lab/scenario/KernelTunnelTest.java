package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.CharonSettings;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Guard;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Mtu;
import org.cloister.ipsec.Network;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Host;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.Poll;
import org.cloister.lab.ProjectKeys;
import org.cloister.lab.Vm;
import org.cloister.lab.VmSpec;
import org.cloister.lab.guest.TunnelScript;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A worker and a controlling VM whose kernels do ESP; each sends a marker to the other all the time. */
@Tag("scenario")
@Tag("ipsec")
@ExtendWith(SharedLab.class)
class KernelTunnelTest {
    private static final Pattern NEEDED = Pattern.compile("lab/target/classes|strongswan-conf|netty|slf4j-api");
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int VLAN = 170;
    private static final Mtu MTU = new Mtu(1500, Esp.KERNEL);
    private static final Guard GUARD = Guard.of("eth0", new Network(new Address("10.70.0.0"), 24), MTU);
    /** Headers of IP and of an echo request. */
    private static final int HEADERS = 28;

    private final ProjectKeys keys = ProjectKeys.make("a");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    KernelTunnelTest() throws IOException {}

    @Test
    void no_packet_is_clear_before_through_and_after_a_tunnel_and_the_guard_does_it(Lab lab) throws Exception {
        Host host = lab.host(1);
        Path image = LabHome.fromEnvironment().image("lab");
        Path network = Path.of("/proc", Long.toString(host.pid()), "ns/net");
        host.ovs().forwardWithinVlans();
        try (Vm controller = host.boot(VmSpec.of("kt-c", image).withVlan(VLAN));
                Vm worker = host.boot(VmSpec.of("kt-w", image).withVlan(VLAN));
                Wiretap wire = new Wiretap(List.of(
                        FrameSocket.open(network, controller.spec().port()),
                        FrameSocket.open(network, worker.spec().port())))) {
            prepare(controller.awaitRunner(), Identity.controller("c", "a"), "10.70.0.1", "10.70.0.2");
            prepare(worker.awaitRunner(), Identity.worker("w1", "a"), "10.70.0.2", "10.70.0.1");
            TimeUnit.SECONDS.sleep(1);
            assertThat(wire.encrypted()).isZero();
            nothingInClear(wire);

            bothUp(controller, worker);
            flows(wire);
            Poll.until("new keys of both kinds", SOON, "read /run/charon.log in the guest", () -> {
                String log = worker.succeed("cat", "/run/charon.log");
                return log.contains("rekeyed between") && log.contains("closing CHILD_SA");
            });
            flows(wire);
            int largest = MTU.inner();
            assertThat(passes(worker, largest - 1)).isTrue();
            assertThat(passes(worker, largest)).isTrue();
            assertThat(passes(worker, largest + 1)).isFalse();
            nothingInClear(wire);

            for (Vm each : List.of(controller, worker)) {
                // Killed, charon leaves its keys in the kernel: the tunnel goes on until they are taken away too.
                each.succeed("sh", "-c", "kill -9 $(cat /run/charon.pid); ip xfrm state flush; ip xfrm policy flush");
                assertThat(each.succeed("nft", "--stateless", "list", "table", "inet", Guard.TABLE))
                        .isEqualTo(GUARD.render());
            }
            TimeUnit.SECONDS.sleep(2);
            nothingInClear(wire);
            for (Vm each : List.of(controller, worker)) {
                each.succeed("nft", "delete", "table", "inet", Guard.TABLE);
            }
            Poll.until("the marker without the guard", SOON, "look with tcpdump", () -> wire.clear() > 0);
        } finally {
            host.ovs().ofctl("del-flows", "br-secure");
        }
    }

    /** The guard before there is an address, then the marker, then charon without a plan. */
    private void prepare(Vm vm, Identity identity, String own, String other) throws IOException {
        GuestJava.put(vm, "/run/guard.nft", GUARD.render().getBytes(StandardCharsets.UTF_8));
        CharonSettings settings =
                new CharonSettings(Path.of(TunnelScript.SOCKET), Esp.KERNEL, Path.of("/run/charon.log"));
        GuestJava.put(vm, "/run/strongswan.conf", settings.render().getBytes(StandardCharsets.UTF_8));
        vm.succeed("mkdir", "-m", "700", TunnelScript.FOLDER);
        keys.write(identity, folder.resolve("own.crt"), folder.resolve("own.key"));
        for (String name : List.of("own.crt", "own.key")) {
            GuestJava.put(vm, TunnelScript.FOLDER + "/" + name, Files.readAllBytes(folder.resolve(name)));
        }
        int number = 0;
        for (Certificate each : keys.authorities()) {
            GuestJava.put(vm, TunnelScript.FOLDER + "/ca" + number++ + ".crt", each.der());
        }
        String pattern = HexFormat.of().formatHex(Wiretap.MARKER.getBytes(StandardCharsets.US_ASCII));
        vm.succeed("nft", "-f", "/run/guard.nft");
        vm.succeed("ip", "address", "add", own + "/24", "dev", "eth0");
        vm.succeed("ip", "link", "set", "eth0", "up");
        inBackground(vm, "while :; do ping -q -i 0.1 -s 64 -p " + pattern + " " + other + "; sleep 0.1; done");
        inBackground(
                vm, "echo $$ >/run/charon.pid; STRONGSWAN_CONF=/run/strongswan.conf exec /usr/sbin/charon-systemd");
    }

    private static void inBackground(Vm vm, String script) throws IOException {
        vm.succeed("sh", "-c", "setsid sh -c \"$1\" </dev/null >/dev/null 2>&1 &", "sh", script);
    }

    /** Our library in each guest tells its charon; the worker's tunnel waits for the first packet. */
    private static void bothUp(Vm controller, Vm worker) throws Exception {
        List<Future<String>> ends = new ArrayList<>();
        ExecutorService both = Executors.newFixedThreadPool(2);
        try {
            ends.add(both.submit(() -> GuestJava.install(controller, NEEDED)
                    .run(
                            TunnelScript.class,
                            "",
                            LIMIT,
                            "controller",
                            "c",
                            "10.70.0.1",
                            "worker",
                            "w1",
                            "10.70.0.2",
                            "WAIT",
                            "default")));
            ends.add(both.submit(() -> GuestJava.install(worker, NEEDED)
                    .run(
                            TunnelScript.class,
                            "",
                            LIMIT,
                            "worker",
                            "w1",
                            "10.70.0.2",
                            "controller",
                            "c",
                            "10.70.0.1",
                            "ON_DEMAND",
                            "short")));
            for (Future<String> end : ends) {
                assertThat(end.get()).contains("up");
            }
        } finally {
            both.shutdownNow();
        }
    }

    private static boolean passes(Vm from, int bytes) throws IOException {
        String size = Integer.toString(bytes - HEADERS);
        return from.run("ping", "-c", "3", "-i", "0.3", "-W", "3", "-M", "do", "-s", size, "10.70.0.1")
                        .exit()
                == 0;
    }

    private static void flows(Wiretap wire) throws IOException {
        long before = wire.encrypted();
        Poll.until("packets in the tunnel", SOON, "read charon.log", () -> wire.encrypted() > before + 20);
    }

    private static void nothingInClear(Wiretap wire) {
        assertThat(wire.clear()).as("frames with the marker").isZero();
        assertThat(wire.strange())
                .as("frames that are neither ARP, IKE nor ESP")
                .isZero();
    }
}
