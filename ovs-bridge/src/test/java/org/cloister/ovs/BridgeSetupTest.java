package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.ovs.io.OvsException.DeviceRefused;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Setting up the bridge of a real Open vSwitch. */
@SuppressWarnings("NullAway.Init") // JUnit sets the fields
class BridgeSetupTest {
    private RealSwitch ovs;
    private BridgeConfig config;

    @BeforeEach
    void setUp() throws IOException {
        ovs = RealSwitch.start();
        ovs.veth("trunk0", "trunk1");
        // A machine with other load takes longer than the ten seconds of one at work.
        config = ovs.config("trunk0").within(Duration.ofMinutes(1));
    }

    @AfterEach
    void tearDown() throws IOException {
        ovs.close();
    }

    private String vsctl(String... arguments) throws IOException {
        return ovs.vsctl(arguments).strip();
    }

    @Test
    void a_new_bridge_is_secure_from_its_start_and_has_the_trunk() throws IOException {
        assertThat(BridgeSetup.apply(config))
                .extracting(BridgeDifference::subject)
                .containsExactlyInAnyOrder("bridge br-secure", "port trunk0");
        assertThat(vsctl("get-fail-mode", "br-secure")).isEqualTo("secure");
        assertThat(vsctl("list-ports", "br-secure")).isEqualTo("trunk0");
        assertThat(vsctl("get", "interface", "trunk0", "error")).isEqualTo("[]");
        assertThat(ovs.flows().lines().filter(line -> line.contains("actions=")))
                .isEmpty();
    }

    @Test
    void it_may_be_repeated_and_changes_nothing_then() throws IOException {
        BridgeSetup.apply(config);
        String ports = vsctl("--columns=_uuid,external_ids", "list", "port");
        assertThat(BridgeSetup.apply(config)).isEmpty();
        assertThat(vsctl("--columns=_uuid,external_ids", "list", "port")).isEqualTo(ports);
    }

    @Test
    void without_a_trunk_there_is_the_bridge_alone() throws IOException {
        BridgeSetup.apply(ovs.config().within(Duration.ofMinutes(1)));
        assertThat(vsctl("get-fail-mode", "br-secure")).isEqualTo("secure");
        assertThat(vsctl("list-ports", "br-secure")).isEmpty();
    }

    @Test
    void a_bridge_that_was_made_by_hand_gets_the_fail_mode_and_keeps_its_ports() throws IOException {
        ovs.devices("x-", 1);
        vsctl("add-br", "br-secure", "--", "set", "bridge", "br-secure", "datapath_type=netdev");
        vsctl("add-port", "br-secure", "x-0", "--", "add-port", "br-secure", "trunk0");
        String trunk = vsctl("get", "port", "trunk0", "_uuid");
        assertThat(BridgeSetup.apply(config))
                .extracting(BridgeDifference::subject)
                .contains("fail_mode");
        assertThat(vsctl("get-fail-mode", "br-secure")).isEqualTo("secure");
        assertThat(vsctl("list-ports", "br-secure").lines()).containsExactly("trunk0", "x-0");
        assertThat(vsctl("get", "port", "trunk0", "_uuid")).isEqualTo(trunk);
    }

    @Test
    void agent_hosts_ports_and_flows_stay_and_it_finds_nothing_to_change_after() throws IOException {
        ovs.devices("cl-", 2);
        try (SecureBridge bridge = SecureBridge.open(config, new MetricRegistry())) {
            bridge.replace(PortPlanSamples.jobs("cl-", 1, 2));
            String flows = ovs.flows();
            assertThat(BridgeSetup.apply(config)).isEmpty();
            assertThat(ovs.flows()).isEqualTo(flows);
            assertThat(bridge.found()).hasSize(2);
        }
    }

    @Test
    void agent_host_uses_the_bridge_as_it_was_set_up() throws IOException {
        BridgeSetup.apply(config);
        String rows = vsctl("--columns=_uuid,fail_mode,other_config,external_ids,ports", "list", "bridge");
        try (SecureBridge bridge = SecureBridge.open(config, new MetricRegistry())) {
            bridge.replace(List.of());
        }
        assertThat(vsctl("--columns=_uuid,fail_mode,other_config,external_ids,ports", "list", "bridge"))
                .isEqualTo(rows);
    }

    @Test
    void a_device_of_another_bridge_is_refused_by_name_and_nothing_is_made() throws IOException {
        vsctl("add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev");
        vsctl("add-port", "br-phy", "trunk0");
        assertThatThrownBy(() -> BridgeSetup.apply(config))
                .isInstanceOf(PlanRefused.class)
                .hasMessageContaining("VLAN trunk trunk0")
                .hasMessageContaining("the port trunk0 of the bridge br-phy")
                .hasMessageContaining("del-port");
        assertThat(vsctl("list-br")).isEqualTo("br-phy");
        vsctl("add-br", "br-secure", "--", "set", "bridge", "br-secure", "datapath_type=netdev");
        assertThatThrownBy(() -> BridgeSetup.apply(ovs.config("br-secure").within(Duration.ofMinutes(1))))
                .isInstanceOf(PlanRefused.class);
    }

    @Test
    void a_device_that_is_not_there_is_an_error_until_it_is() throws IOException {
        BridgeConfig later = ovs.config("trunk2");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> BridgeSetup.apply(later))
                    .isInstanceOf(DeviceRefused.class)
                    .hasMessageContaining("port trunk2")
                    .hasMessageContaining("No such device");
        }
        ovs.veth("trunk2", "trunk3");
        RealSwitch.until("the device", () -> isOpen("trunk2"));
        assertThat(BridgeSetup.apply(later)).isEmpty();
    }

    private boolean isOpen(String device) {
        try {
            return vsctl("get", "interface", device, "error").equals("[]");
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void a_repeat_waits_for_a_vswitchd_that_did_not_run() throws IOException {
        ovs.killSwitch();
        BridgeConfig impatient = config.within(Duration.ofMillis(500));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> BridgeSetup.apply(impatient))
                    .isInstanceOf(TimedOut.class)
                    .hasMessageContaining("set up br-secure")
                    .hasMessageContaining("ovs-vswitchd");
        }
        ovs.startSwitch();
        assertThat(BridgeSetup.apply(config)).isEmpty();
        assertThat(vsctl("list-ports", "br-secure")).isEqualTo("trunk0");
    }

    @Test
    void without_the_database_it_fails_at_once() {
        BridgeConfig nowhere = BridgeConfig.of(Path.of("/nonexistent"), null).within(Duration.ofMinutes(5));
        assertThatThrownBy(() -> BridgeSetup.apply(nowhere))
                .isInstanceOf(Disconnected.class)
                .hasMessageContaining("no socket /nonexistent/db.sock")
                .hasMessageContaining("see whether the daemon of Open vSwitch runs");
    }
}
