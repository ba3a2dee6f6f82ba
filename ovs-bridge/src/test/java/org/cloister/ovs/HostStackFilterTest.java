package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.io.OvsException.RulesRefused;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A machine that knows its host's address, on a bridge in user space, where the host's kernel gets each frame too. */
class HostStackFilterTest {
    private static final Endpoint SELF = Endpoint.of(new MacAddress("02:00:00:00:00:02"), new Ipv4Address("10.9.0.2"));
    private static final String HOST_ADDRESS = "10.9.0.1";

    private final MetricRegistry metrics = new MetricRegistry();
    private RealSwitch ovs;

    @BeforeEach
    void start() throws IOException {
        ovs = RealSwitch.start();
        ovs.veth("cl-0", "machine");
        ovs.run("ip", "link", "set", "lo", "up");
        ovs.run("ip", "address", "add", HOST_ADDRESS + "/32", "dev", "lo");
        ovs.run("mount", "-t", "tmpfs", "none", "/run");
        ovs.run("ip", "netns", "add", "m");
        ovs.run("ip", "link", "set", "machine", "netns", "m");
        ovs.run("ip", "-n", "m", "link", "set", "machine", "address", "02:00:00:00:00:02", "up");
        ovs.run("ip", "-n", "m", "address", "add", "10.9.0.2/24", "dev", "machine");
    }

    @AfterEach
    void stop() throws IOException {
        ovs.close();
    }

    @Test
    void a_machine_reaches_its_host_without_the_rules_and_not_with_them() throws IOException {
        assertThat(echoesHeard()).as("before the bridge is looked after").isPositive();

        try (SecureBridge bridge = SecureBridge.open(ovs.config(), metrics)) {
            bridge.replace(List.of(PortPlanSamples.worker("cl-0", SELF)));
            assertThat(echoesHeard()).isZero();
            assertThat(answersToArp()).isFalse();
        }
        assertThat(echoesHeard()).as("after the process has gone").isZero();

        ovs.run("ip", "link", "delete", "cl-0");
        ovs.run("ip", "link", "add", "cl-0", "type", "veth", "peer", "name", "machine", "netns", "m");
        ovs.run("ip", "link", "set", "cl-0", "up");
        ovs.run("ip", "-n", "m", "link", "set", "machine", "up");
        ovs.run("ip", "-n", "m", "address", "add", "10.9.0.2/24", "dev", "machine");
        assertThat(echoesHeard()).as("of a device made anew").isZero();
    }

    @Test
    void rules_that_another_flushed_are_laid_again() throws IOException {
        try (SecureBridge bridge = SecureBridge.open(ovs.config().audited(Duration.ofMillis(200)), metrics)) {
            bridge.replace(List.of());
            ovs.run("/usr/sbin/nft", "flush", "ruleset");
            RealSwitch.until(
                    "the rules again",
                    () -> metrics.counter("bridge.shield.repaired").getCount() == 1);
            RealSwitch.until("their effect", () -> echoesHeard() == 0);
        }
    }

    /** The kernel says so: with the next audit it would be a gap of ten minutes. */
    @Test
    void rules_that_another_flushed_are_laid_again_before_the_next_audit() throws IOException {
        try (SecureBridge bridge = SecureBridge.open(ovs.config().audited(Duration.ofMinutes(10)), metrics)) {
            bridge.replace(List.of());
            RealSwitch.until("the rules again after a flush that the monitor has seen", () -> {
                try {
                    // Of an empty ruleset a flush that came before the monitor has left nothing to remove.
                    ovs.run("/usr/sbin/nft", "add", "table", "inet", "cloister-br-secure");
                    ovs.run("/usr/sbin/nft", "flush", "ruleset");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                return metrics.counter("bridge.shield.repaired").getCount() > 0;
            });
            RealSwitch.until("their effect", () -> echoesHeard() == 0);
        }
    }

    @Test
    void no_port_is_made_where_rules_cannot_be_laid() throws IOException {
        BridgeConfig config = ovs.config().withNft(List.of("/usr/sbin/no-nft"));
        try (SecureBridge bridge = SecureBridge.open(config, metrics)) {
            assertThatThrownBy(() -> bridge.replace(List.of(PortPlanSamples.worker("cl-0", SELF))))
                    .isInstanceOf(RulesRefused.class)
                    .hasMessageContaining("/usr/sbin/no-nft")
                    .hasMessageContaining("install nftables");
        }
        assertThat(ovs.vsctl("list-br")).isBlank();
    }

    @Test
    void a_device_that_the_rules_do_not_name_is_refused() throws IOException {
        try (SecureBridge bridge = SecureBridge.open(ovs.config(), metrics)) {
            assertThatThrownBy(() -> bridge.replace(List.of(PortPlanSamples.worker("eth0", SELF))))
                    .isInstanceOf(PlanRefused.class)
                    .hasMessageContaining("begins with cl-");
        }
    }

    /** Of pings to the host's address with the host's MAC: what the host's own stack counts. */
    private int echoesHeard() {
        try {
            String mac = ovs.run("ip", "-brief", "link", "show", "cl-0").strip().split("\\s+", -1)[2];
            ovs.run("ip", "-n", "m", "neighbour", "replace", HOST_ADDRESS, "lladdr", mac, "dev", "machine");
            int before = echoes();
            ping();
            return echoes() - before;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private boolean answersToArp() throws IOException {
        ovs.run("ip", "-n", "m", "neighbour", "del", HOST_ADDRESS, "dev", "machine");
        ping();
        return ovs.run("ip", "-n", "m", "neighbour", "show", HOST_ADDRESS).contains("lladdr");
    }

    private void ping() throws IOException {
        ovs.run("ip", "netns", "exec", "m", "sh", "-c", "ping -c 2 -i 0.1 -W 1 " + HOST_ADDRESS + " || true");
    }

    private int echoes() throws IOException {
        // Of two lines the second has the numbers: InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds
        // InParmProbs InSrcQuenchs InRedirects InEchos.
        String numbers = ovs.run("sh", "-c", "grep '^Icmp:' /proc/net/snmp | tail -n 1");
        return Integer.parseInt(numbers.split(" ", -1)[9]);
    }
}
