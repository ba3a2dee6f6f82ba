package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.CharonSettings;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelGuard;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelMtu;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.cloister.lab.guest.TunnelScript;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.protocol.identity.CertificateAuthority;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A worker and a controlling VM whose kernels do ESP; each sends a marker to the other all the time. */
@Tag("scenario")
@Tag("ipsec")
@ExtendWith(SharedLab.class)
class KernelTunnelTest {
    private static final Pattern NEEDED =
            Pattern.compile("lab/target/classes|/base/target/|strongswan-conf|netty|slf4j-api");
    /** A Java program begins in a guest under emulation within that time, whatever else the machine does. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int VLAN = 170;
    private static final TunnelMtu MTU = new TunnelMtu(1500, EspMode.KERNEL);
    private static final TunnelGuard GUARD = TunnelGuard.of("eth0", Ipv4Network.parse("10.70.0.0/24"), MTU);
    private static final String STEPS = "/run/tunnel.steps";
    private static final String OUTPUT = "/run/tunnel.said";
    /** Headers of IP and of an echo request. */
    private static final int HEADERS = 28;

    private final LabProjectKeys keys = LabProjectKeys.create("a");
    /** Of the certificate that the worker has when it is revoked. */
    private BigInteger workersSerial = BigInteger.ZERO;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    KernelTunnelTest() throws IOException {}

    @Test
    @RotatedScenario(11)
    void no_packet_is_clear_through_a_tunnels_whole_life_and_the_guard_does_it(Lab lab) throws Exception {
        LabHost host = lab.host(1);
        Path image = LabHome.fromEnvironment().image("lab");
        Path network = Path.of("/proc", Long.toString(host.pid()), "ns/net");
        host.ovs().forwardWithinVlans();
        try (LabVm controller = host.boot(LabVmSpec.of("kt-c", image).withVlan(VLAN));
                LabVm worker = host.boot(LabVmSpec.of("kt-w", image).withVlan(VLAN));
                Wiretap wire = new Wiretap(List.of(
                        FrameSocket.open(network, controller.spec().port()),
                        FrameSocket.open(network, worker.spec().port())))) {
            controller.awaitRunner();
            worker.awaitRunner();
            try {
                wholeLife(controller, worker, wire);
            } catch (LabException e) {
                throw new LabException(e.getMessage() + tails(controller) + tails(worker), "compare both ends", e);
            }
        } finally {
            host.ovs().ofctl("del-flows", "br-secure");
        }
    }

    private void wholeLife(LabVm controller, LabVm worker, Wiretap wire) throws Exception {
        prepare(controller, "10.70.0.1", "10.70.0.2");
        prepare(worker, "10.70.0.2", "10.70.0.1");
        TimeUnit.SECONDS.sleep(1);
        assertThat(wire.encrypted()).isZero();
        nothingInClear(wire);
        for (LabVm each : List.of(controller, worker)) {
            await(
                    "the guest's program",
                    LIMIT,
                    "read " + OUTPUT,
                    () -> output(each).contains("ready"));
        }
        refusedThenKeptWithNewKeys(controller, worker, wire);
        largestPacket(worker, wire);
        otherCertificatesAtBothEnds(controller, worker, wire);
        peerKilled(controller, worker, wire);
        revoked(controller, worker, wire);
        twoWorkersAtOnce(controller, worker, wire);
        bothKilledAndTheGuardTaken(List.of(controller, worker), wire);
    }

    private static String tails(LabVm vm) throws IOException {
        return "\n" + vm.name() + ":\n"
                + vm.run("tail", "-n", "40", OUTPUT, "/run/charon.log").out();
    }

    private static void refusedThenKeptWithNewKeys(LabVm controller, LabVm worker, Wiretap wire) throws IOException {
        command(worker, "worker w1 strange controller c ON_DEMAND short accept");
        await(
                "a first attempt",
                SOON,
                "read /run/charon.log",
                () -> log(worker).contains("received NO_PROPOSAL_CHOSEN"));
        command(controller, "controller c c worker w1 WAIT default accept");
        await("a refusal", SOON, "read /run/charon.log", () -> log(worker).contains("received AUTHENTICATION_FAILED"));
        assertThat(output(worker)).doesNotContain("Up[peer=c]");
        nothingInClear(wire);
        command(worker, "worker w1 w1 controller c ON_DEMAND short accept");
        awaitSaid(worker, "Up[peer=c]");
        awaitSaid(controller, "Up[peer=w1]");
        flows(wire);
        await("new keys of both kinds", SOON, "read /run/charon.log", () -> {
            String log = log(worker);
            return log.contains("rekeyed between") && log.contains("closing CHILD_SA");
        });
        flows(wire);
        nothingInClear(wire);
    }

    private static void largestPacket(LabVm worker, Wiretap wire) throws IOException {
        int largest = MTU.inner();
        assertThat(passes(worker, largest - 1)).isTrue();
        assertThat(passes(worker, largest)).isTrue();
        assertThat(passes(worker, largest + 1)).isFalse();
        nothingInClear(wire);
    }

    private static void otherCertificatesAtBothEnds(LabVm controller, LabVm worker, Wiretap wire) throws IOException {
        int before = authenticated(controller);
        command(worker, "worker w1 newer controller c ON_DEMAND default accept");
        await("the newer certificate", SOON, "read /run/charon.log", () -> authenticated(controller) > before);
        command(controller, "controller c newer worker w1 WAIT default accept");
        flows(wire);
        nothingInClear(wire);
    }

    /** Killed, charon leaves its keys in the kernel: the tunnel goes on until they are taken away too. */
    private static void peerKilled(LabVm controller, LabVm worker, Wiretap wire) throws IOException {
        int ends = count(output(worker), "Down[peer=c");
        int begins = count(output(worker), "Up[peer=c]");
        kill(controller);
        await("the end of the tunnel", SOON, "read " + OUTPUT, () -> count(output(worker), "Down[peer=c") > ends);
        nothingInClear(wire);
        startCharon(controller);
        await("the tunnel again", SOON, "read " + OUTPUT, () -> count(output(worker), "Up[peer=c]") > begins);
        flows(wire);
        nothingInClear(wire);
    }

    private void revoked(LabVm controller, LabVm worker, Wiretap wire) throws IOException {
        CertificateAuthority.Revocation revocation = new CertificateAuthority.Revocation(workersSerial, Instant.now());
        byte[] list = keys.workers().revoke(List.of(revocation), BigInteger.ONE, Instant.now(), Duration.ofHours(24));
        GuestJava.writeFile(controller, TunnelScript.FOLDER + "/revoked.crl", list);
        int ends = count(output(worker), "Down[peer=c");
        command(controller, "controller c newer worker w1 WAIT default revoke");
        await("the end of the tunnel", SOON, "read " + OUTPUT, () -> count(output(worker), "Down[peer=c") > ends);
        int begins = count(output(worker), "Up[peer=c]");
        command(controller, "controller c newer worker w1 WAIT default list");
        await("the reason", SOON, "read /run/charon.log", () -> log(controller).contains("certificate was revoked"));
        assertThat(count(output(worker), "Up[peer=c]")).isEqualTo(begins);
        nothingInClear(wire);
    }

    /** Each asks the other on its first packet, and both have markers to send. */
    private static void twoWorkersAtOnce(LabVm one, LabVm other, Wiretap wire) throws IOException {
        int before = count(log(one), "received AUTHENTICATION_FAILED");
        command(one, "worker w2 w2 worker w1 ON_DEMAND default accept");
        // The other does not know it yet, so the first attempts fail, and are not given up.
        await(
                "a first attempt",
                SOON,
                "read /run/charon.log",
                () -> count(log(one), "received AUTHENTICATION_FAILED") > before);
        command(other, "worker w1 w1 worker w2 ON_DEMAND default accept");
        awaitSaid(other, "Up[peer=w2]");
        flows(wire);
        nothingInClear(wire);
    }

    private static void bothKilledAndTheGuardTaken(List<LabVm> both, Wiretap wire) throws Exception {
        for (LabVm each : both) {
            kill(each);
            assertThat(each.succeed("nft", "--stateless", "list", "table", "inet", TunnelGuard.TABLE))
                    .isEqualTo(GUARD.render());
        }
        TimeUnit.SECONDS.sleep(2);
        nothingInClear(wire);
        for (LabVm each : both) {
            each.succeed("nft", "delete", "table", "inet", TunnelGuard.TABLE);
        }
        await("the marker without the guard", SOON, "look with tcpdump", () -> wire.clear() > 0);
    }

    /** The guard before there is an address, then the marker, then charon and what tells it, without a plan. */
    private void prepare(LabVm vm, String own, String other) throws IOException {
        GuestJava.writeFile(vm, "/run/guard.nft", GUARD.render().getBytes(StandardCharsets.UTF_8));
        CharonSettings settings =
                new CharonSettings(Path.of(TunnelScript.SOCKET), EspMode.KERNEL, Path.of("/run/charon.log"));
        GuestJava.writeFile(vm, "/run/strongswan.conf", settings.render().getBytes(StandardCharsets.UTF_8));
        credentials(vm);
        String pattern = HexFormat.of().formatHex(Wiretap.MARKER.getBytes(StandardCharsets.US_ASCII));
        vm.succeed("nft", "-f", "/run/guard.nft");
        vm.succeed("ip", "address", "add", own + "/24", "dev", "eth0");
        vm.succeed("ip", "link", "set", "eth0", "up");
        inBackground(vm, "while :; do ping -q -i 0.1 -s 64 -p " + pattern + " " + other + "; sleep 0.1; done");
        startCharon(vm);
        GuestJava.install(vm, NEEDED).start(TunnelScript.class, STEPS, OUTPUT, own, other);
    }

    /** All that any of the two will be told. */
    private void credentials(LabVm vm) throws IOException {
        vm.succeed("mkdir", "-m", "700", TunnelScript.FOLDER);
        put(vm, "c", keys, TunnelIdentity.controller("c", "a"));
        put(vm, "w1", keys, TunnelIdentity.worker("w1", "a"));
        put(vm, "w2", keys, TunnelIdentity.worker("w2", "a"));
        put(vm, "strange", LabProjectKeys.create("a"), TunnelIdentity.worker("w1", "a"));
        TunnelIdentity newer =
                vm.name().endsWith("c") ? TunnelIdentity.controller("c", "a") : TunnelIdentity.worker("w1", "a");
        put(vm, "newer", keys, newer);
        if (newer.role().equals("worker")) {
            workersSerial = keys.lastSerial();
        }
        int number = 0;
        for (DerCertificate each : keys.authorities()) {
            GuestJava.writeFile(vm, TunnelScript.FOLDER + "/ca" + number++ + ".crt", each.der());
        }
    }

    private void put(LabVm vm, String name, LabProjectKeys from, TunnelIdentity identity) throws IOException {
        from.write(identity, folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
        for (String file : List.of(name + ".crt", name + ".key")) {
            GuestJava.writeFile(vm, TunnelScript.FOLDER + "/" + file, Files.readAllBytes(folder.resolve(file)));
        }
    }

    private static void startCharon(LabVm vm) throws IOException {
        inBackground(
                vm, "echo $$ >/run/charon.pid; STRONGSWAN_CONF=/run/strongswan.conf exec /usr/sbin/charon-systemd");
    }

    private static void kill(LabVm vm) throws IOException {
        vm.succeed(
                "sh",
                "-c",
                "kill -9 $(cat /run/charon.pid); rm -f " + TunnelScript.SOCKET
                        + "; ip xfrm state flush; ip xfrm policy flush");
    }

    private static void inBackground(LabVm vm, String script) throws IOException {
        vm.succeed("sh", "-c", "setsid sh -c \"$1\" </dev/null >/dev/null 2>&1 &", "sh", script);
    }

    private static void command(LabVm vm, String plan) throws IOException {
        vm.succeed("sh", "-c", "echo \"$1\" >" + STEPS, "sh", plan);
        await("told " + plan, LIMIT, "read " + OUTPUT, () -> output(vm).contains("told " + plan));
    }

    /** Not often: each question costs a guest under emulation more than its answer. */
    private static void await(String what, Duration limit, String remedy, Poll.Question question) throws IOException {
        Poll.until(what, limit, remedy, Duration.ofSeconds(1), question);
    }

    private static void awaitSaid(LabVm vm, String phrase) throws IOException {
        await(phrase, SOON, "read " + OUTPUT, () -> output(vm).contains(phrase));
    }

    private static String output(LabVm vm) throws IOException {
        return vm.succeed("cat", OUTPUT);
    }

    private static String log(LabVm vm) throws IOException {
        return vm.succeed("cat", "/run/charon.log");
    }

    private static int authenticated(LabVm controller) throws IOException {
        return count(log(controller), "authentication of 'w1.worker.a.cloister.internal' with");
    }

    private static int count(String text, String phrase) {
        return text.split(Pattern.quote(phrase), -1).length - 1;
    }

    private static boolean passes(LabVm from, int bytes) throws IOException {
        String size = Integer.toString(bytes - HEADERS);
        return from.run("ping", "-c", "3", "-i", "0.3", "-W", "3", "-M", "do", "-s", size, "10.70.0.1")
                        .exit()
                == 0;
    }

    private static void flows(Wiretap wire) throws IOException {
        long before = wire.encrypted();
        await("packets in the tunnel", SOON, "read charon.log", () -> wire.encrypted() > before + 20);
    }

    private static void nothingInClear(Wiretap wire) {
        assertThat(wire.clear()).as("frames with the marker").isZero();
        assertThat(wire.strange())
                .as("frames that are neither ARP, IKE nor ESP")
                .isZero();
    }
}
