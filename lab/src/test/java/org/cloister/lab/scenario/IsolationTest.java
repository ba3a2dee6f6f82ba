package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.ovs.SecureBridge;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Reachability on two bridges, by frames that are captured at each machine: a frame may arrive at its destination, and
 * nowhere else.
 */
@Tag("scenario")
@Tag("ovs")
@ExtendWith(SharedLab.class)
class IsolationTest {
    private static final long FIRE_SECONDS = 20;
    private static final List<IsolationProbe> PROBES = List.of(IsolationProbe.values());

    private static final Pattern PACKETS = Pattern.compile("counter packets (\\d+)");
    /** Right behind the shield. */
    private static final String WATCH = """
            table inet watch {
              chain in { type filter hook prerouting priority -449; iifname "cl-*" counter; }
            }
            table arp watch {
              chain in { type filter hook input priority -449; iifname "cl-*" counter; }
            }
            """;

    private final MetricRegistry metrics = new MetricRegistry();
    private final Lab lab;
    private BridgeFixture stage;
    private final List<SecureBridge> bridges = new ArrayList<>();
    private final List<BridgeFixture.Sent> pending = new ArrayList<>();

    IsolationTest(Lab lab) {
        this.lab = lab;
    }

    @BeforeEach
    void start() throws IOException {
        stage = BridgeFixture.set(lab);
        openBridges();
    }

    @AfterEach
    void stop() throws IOException {
        for (SecureBridge bridge : bridges) {
            try (bridge) {
                bridge.replace(List.of());
            }
        }
        stage.close();
        for (LabHost host : lab.hosts()) {
            host.ovs().ofctl("del-flows", "br-secure");
        }
    }

    @Test
    void every_frame_comes_to_whom_it_may_and_to_nobody_else() throws IOException {
        int cells = 0;
        for (BridgeMachines from : BridgeMachines.ALL) {
            for (IsolationProbe probe : PROBES) {
                cells += row(from, probe);
            }
        }
        System.out.println("matrix: " + cells + " cells");
        assertThat(metrics.counter("bridge.drift.found").getCount()).isZero();
    }

    @Test
    void the_host_itself_reaches_nobody() throws IOException {
        List<BridgeFixture.Sent> all = new ArrayList<>();
        for (BridgeMachines as : BridgeMachines.ALL) {
            for (BridgeMachines to : BridgeMachines.ALL) {
                for (IsolationProbe probe : PROBES) {
                    all.add(stage.send(
                            BridgeFixture.LOCAL, probe.frame(as, to), "host as " + as.name() + " " + probe, Set.of()));
                }
            }
        }
        stage.settle(all);
        assertNothingWrong(all);
    }

    @Test
    void no_hosts_own_stack_hears_a_machine() throws IOException {
        for (LabHost host : lab.hosts()) {
            host.command("nft", "-f", "-").reading(WATCH).succeed();
        }
        everybodySaysEverything();
        for (LabHost host : lab.hosts()) {
            assertThat(received(host)).as(host.name()).isZero();
        }

        // Those who watch the rules would lay them again before all frames are there.
        bridges.forEach(SecureBridge::close);
        bridges.clear();
        for (LabHost host : lab.hosts()) {
            host.command("nft", "delete table inet cloister-br-secure; delete table arp cloister-br-secure")
                    .succeed();
        }
        everybodySaysEverything();
        for (LabHost host : lab.hosts()) {
            assertThat(received(host)).as(host.name() + " without its shield").isPositive();
            host.command("nft", "delete table inet watch; delete table arp watch")
                    .succeed();
        }
        openBridges();
    }

    @Test
    void the_wire_passes_the_same_filter() throws IOException {
        List<BridgeFixture.Sent> all = new ArrayList<>();
        for (BridgeMachines as : BridgeMachines.ALL) {
            for (BridgeMachines to : BridgeMachines.ALL) {
                for (IsolationProbe probe : PROBES) {
                    for (int vlan : new int[] {BridgeMachines.VLAN, BridgeMachines.OTHER_VLAN, 4000}) {
                        boolean passes = probe.passes(as, to) && as.host() == 2 && to.host() == 1 && vlan == as.vlan();
                        byte[] frame = NumberedFrames.tagged(probe.frame(as, to), 0x8100, vlan);
                        String what = "wire " + vlan + " as " + as.name() + " " + probe + " " + to.name();
                        all.add(stage.send(BridgeFixture.WIRE, frame, what, passes ? Set.of(to.name()) : Set.of()));
                    }
                    String what = "wire untagged as " + as.name() + " " + probe + " " + to.name();
                    // These two have the project's tag already. OpenFlow cannot tell one tag's type from the other's.
                    boolean tagged = probe == IsolationProbe.FORGED_TAG || probe == IsolationProbe.SERVICE_TAG;
                    boolean passes = tagged && IsolationProbe.UDP.passes(as, to) && as.host() == 2 && to.host() == 1;
                    all.add(stage.send(
                            BridgeFixture.WIRE, probe.frame(as, to), what, passes ? Set.of(to.name()) : Set.of()));
                }
            }
        }
        stage.settle(all);
        assertNothingWrong(all);
        assertThat(all.stream().filter(stage::isMissing).map(BridgeFixture.Sent::what))
                .isEmpty();
    }

    @Test
    @RotatedScenario(8)
    void no_frame_goes_astray_while_everything_is_killed() throws IOException {
        bridges.forEach(SecureBridge::close);
        bridges.clear();
        Random random = new Random(ScenarioSeed.of("isolation under fire"));
        Process[] agents = new Process[2];
        int kills = 0;
        int frames = 0;
        List<String> wrong = new ArrayList<>();
        try {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(FIRE_SECONDS);
            while (System.nanoTime() < end) {
                fire(random, agents);
                kills++;
                List<BridgeFixture.Sent> round = volley(random);
                frames += round.size();
                for (BridgeFixture.Sent sent : round) {
                    stage.wrong(sent).forEach(where -> wrong.add(sent.what() + " came to " + where));
                }
            }
        } finally {
            for (Process agent : agents) {
                if (agent != null) {
                    agent.destroyForcibly().onExit().join();
                }
            }
        }
        System.out.println("under fire: " + kills + " kills, " + frames + " frames, " + wrong.size() + " wrong");
        assertThat(wrong).isEmpty();
        openBridges();
        // The switch remembers for a moment that it dropped such frames: it looks again at what it remembers by and by.
        BridgeFixture.sleep(1000);
        every_frame_comes_to_whom_it_may_and_to_nobody_else();
    }

    /** Kills one of three on one of two hosts, and starts it again. */
    private void fire(Random random, Process[] agents) throws IOException {
        int number = random.nextInt(2);
        LabHost host = lab.host(number + 1);
        switch (random.nextInt(3)) {
            case 0 -> {
                host.ovs().kill("ovs-vswitchd");
                host.ovs().startSwitch();
            }
            case 1 -> {
                host.ovs().kill("ovsdb-server");
                host.ovs().startServer();
            }
            default -> {
                Process agent = agents[number];
                if (agent != null) {
                    agent.destroyForcibly().onExit().join();
                }
                agents[number] = BridgeProcess.start(host, number + 1);
            }
        }
    }

    /** The matrix in another order each time; what is lost now is no error, what goes astray is. */
    private List<BridgeFixture.Sent> volley(Random random) throws IOException {
        List<BridgeFixture.Sent> all = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            BridgeMachines from = BridgeMachines.ALL.get(random.nextInt(BridgeMachines.ALL.size()));
            BridgeMachines to = BridgeMachines.ALL.get(random.nextInt(BridgeMachines.ALL.size()));
            IsolationProbe probe = PROBES.get(random.nextInt(PROBES.size()));
            if (!from.name().equals(to.name())) {
                all.add(stage.fire(from, probe, to));
            }
            if (i % 60 == 0) {
                BridgeFixture.sleep(10);
            }
        }
        BridgeFixture.sleep(60);
        stage.receive();
        return all;
    }

    private int row(BridgeMachines from, IsolationProbe probe) throws IOException {
        List<BridgeMachines> targets = BridgeMachines.ALL.stream()
                .filter(to -> !to.name().equals(from.name()))
                .toList();
        List<BridgeFixture.Sent> all = new ArrayList<>();
        for (BridgeMachines to : targets) {
            all.add(stage.send(from, probe, to));
        }
        pending.addAll(all);
        if (pending.size() >= 150 || probe == PROBES.get(PROBES.size() - 1)) {
            stage.settle(pending);
            assertNothingWrong(pending);
            assertThat(pending.stream().filter(stage::isMissing).map(BridgeFixture.Sent::what))
                    .as("lost")
                    .isEmpty();
            pending.clear();
        }
        return all.size();
    }

    private void assertNothingWrong(List<BridgeFixture.Sent> all) {
        assertThat(all.stream()
                        .filter(sent -> !stage.wrong(sent).isEmpty())
                        .map(sent -> sent.what() + " came to " + stage.wrong(sent)))
                .as("astray")
                .isEmpty();
    }

    private void everybodySaysEverything() throws IOException {
        for (BridgeMachines from : BridgeMachines.ALL) {
            for (IsolationProbe probe : PROBES) {
                for (BridgeMachines to : BridgeMachines.ALL) {
                    stage.fire(from, probe, to);
                }
            }
        }
        BridgeFixture.sleep(200);
        stage.receive();
    }

    /** Frames of our machines that came as far as the host's IP and ARP. */
    private static int received(LabHost host) throws IOException {
        Matcher packets = PACKETS.matcher(host.command("nft", "list", "ruleset").succeed());
        int sum = 0;
        while (packets.find()) {
            sum += Integer.parseInt(packets.group(1));
        }
        return sum;
    }

    private void openBridges() throws IOException {
        for (int host = 1; host <= 2; host++) {
            SecureBridge bridge = SecureBridge.open(lab.host(host).bridge(), metrics);
            bridges.add(bridge);
            assertThat(bridge.replace(BridgeMachines.plans(host)).numbers()).hasSameSizeAs(BridgeMachines.plans(host));
        }
        // What the switch remembers of having dropped such frames goes by and by: 22 ms at most were seen.
        BridgeFixture.sleep(300);
    }
}
