package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.cloister.ovs.io.OvsException.DeviceRefused;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SecureBridgeTest {
    private static final Endpoint A = PortPlanSamples.endpoint(1);
    private static final Endpoint B = PortPlanSamples.endpoint(2);

    private final MetricRegistry metrics = new MetricRegistry();
    private RealSwitch ovs;
    private SecureBridge bridge;

    @BeforeEach
    void start() throws IOException {
        ovs = RealSwitch.start();
        bridge = SecureBridge.open(ovs.config().audited(Duration.ofMillis(200)), metrics);
    }

    @AfterEach
    void stop() throws IOException {
        bridge.close();
        ovs.close();
    }

    @Test
    void makes_the_bridge_and_drops_everything_before_there_are_ports() throws IOException {
        bridge.replace(List.of());

        assertThat(ovs.vsctl("get", "bridge", "br-secure", "fail_mode")).startsWith("secure");
        assertThat(ovs.flows()).contains("table=3, priority=0").doesNotContain("NORMAL");
        assertThat(trace("in_port=LOCAL,dl_type=0x0806")).contains("Datapath actions: drop");
    }

    @Test
    void a_job_of_a_hundred_ports_is_one_change() throws IOException {
        ovs.devices("cl-", 100);
        bridge.replace(List.of());

        AppliedPorts applied = bridge.add(PortPlanSamples.jobs("cl-", 25, 4));

        assertThat(applied.numbers()).hasSize(100);
        assertThat(ovs.vsctl("get", "port", "cl-7", "tag")).startsWith("301");
    }

    @Test
    void peers_reach_each_other_and_nobody_else() throws IOException {
        ovs.devices("cl-", 4);
        bridge.replace(PortPlanSamples.jobs("cl-", 2, 2));
        int number = number("cl-0");
        int second = number("cl-1");

        assertThat(trace(ip(number, A, B))).contains("Datapath actions: " + datapath(second));
        assertThat(trace(ip(number, A, PortPlanSamples.endpoint(3)))).contains("Datapath actions: drop");
        assertThat(trace(ip(number, PortPlanSamples.endpoint(3), B))).contains("Datapath actions: drop");
    }

    @Test
    void a_missing_device_takes_the_whole_job_back() throws IOException {
        ovs.devices("cl-", 1);
        bridge.replace(List.of());

        assertThatThrownBy(() -> bridge.add(
                        List.of(PortPlanSamples.worker("cl-0", A, B), PortPlanSamples.worker("cl-none", B, A))))
                .isInstanceOf(DeviceRefused.class)
                .hasMessageContaining("port cl-none")
                .hasMessageContaining("No such device");
        assertThat(ovs.vsctl("list-ports", "br-secure")).isBlank();
        assertThat(ovs.flows()).doesNotContain("priority=200");
        assertThat(metrics.counter("bridge.refused").getCount()).isEqualTo(1);
    }

    @Test
    void the_same_station_twice_is_refused() throws IOException {
        bridge.replace(List.of());

        assertThatThrownBy(() -> bridge.add(List.of(PortPlanSamples.worker("a", A), PortPlanSamples.worker("b", A))))
                .isInstanceOf(PlanRefused.class)
                .hasMessageContaining("which is also behind a");
    }

    @Test
    void a_port_of_another_is_never_touched() throws IOException {
        ovs.devices("cl-", 2);
        bridge.replace(List.of());
        ovs.vsctl("add-port", "br-secure", "cl-0", "--", "set", "port", "cl-0", "external_ids:whose=theirs");

        assertThatThrownBy(() -> bridge.add(List.of(PortPlanSamples.worker("cl-0", A))))
                .isInstanceOf(PlanRefused.class)
                .hasMessageContaining("one that another made");
        bridge.add(List.of(PortPlanSamples.worker("cl-1", A)));
        bridge.replace(List.of());

        assertThat(ovs.vsctl("list-ports", "br-secure").lines()).containsExactly("cl-0");
        assertThat(ovs.vsctl("get", "port", "cl-0", "external_ids:whose")).contains("theirs");
    }

    @Test
    void a_removed_port_leaves_no_flow_and_its_number_rests() throws IOException {
        ovs.devices("cl-", 2);
        bridge.replace(List.of());
        String empty = ovs.flows();
        bridge.add(List.of(PortPlanSamples.worker("cl-0", A)));
        int first = number("cl-0");

        bridge.remove(Set.of("cl-0"));
        assertThat(ovs.flows()).isEqualTo(empty);
        bridge.add(List.of(PortPlanSamples.worker("cl-0", A)));
        int second = number("cl-0");

        assertThat(second).isGreaterThan(first);
    }

    @Test
    void flows_are_laid_again_after_vswitchd_died() throws IOException {
        ovs.devices("cl-", 2);
        bridge.replace(PortPlanSamples.jobs("cl-", 1, 2));
        String flows = ovs.flows();

        ovs.killSwitch();
        ovs.startSwitch();

        RealSwitch.until("the same flows", () -> flows.equals(flowsOrNothing()));
        assertThat(metrics.counter("bridge.reconnects.openflow").getCount()).isEqualTo(1);
    }

    @Test
    void what_another_did_to_flows_rows_and_settings_is_undone() throws IOException {
        ovs.devices("cl-", 2);
        bridge.replace(PortPlanSamples.jobs("cl-", 1, 2));
        String flows = ovs.flows();

        ovs.ofctl("add-flow", "br-secure", "priority=1000,actions=NORMAL");
        ovs.ofctl("del-flows", "br-secure", "table=3");
        ovs.vsctl("del-port", "cl-1");
        ovs.vsctl("set", "bridge", "br-secure", "fail_mode=standalone");
        ovs.vsctl("set-controller", "br-secure", "tcp:127.0.0.1:6653");

        RealSwitch.until(
                "the ports", () -> ovsSays("list-ports", "br-secure").lines().count() == 2);
        RealSwitch.until(
                "the flows of the rest",
                () -> flowsOrNothing().lines().count() == flows.lines().count());
        RealSwitch.until("the mode", () -> ovsSays("get-fail-mode", "br-secure").startsWith("secure"));
        RealSwitch.until(
                "no controller", () -> ovsSays("get-controller", "br-secure").isBlank());
        assertThat(metrics.counter("bridge.drift.found").getCount()).isPositive();
        RealSwitch.until(
                "repaired", () -> metrics.counter("bridge.drift.repaired").getCount() > 0);
    }

    @Test
    void another_process_takes_over_without_a_change() throws IOException {
        ovs.devices("cl-", 2);
        List<PortPlan> plans = PortPlanSamples.jobs("cl-", 1, 2);
        bridge.replace(plans);
        String before = ovs.vsctl("get", "open_vswitch", ".", "next_cfg") + ovs.flows();
        bridge.close();

        bridge = SecureBridge.open(ovs.config(), metrics);
        bridge.replace(plans);

        assertThat(bridge.found()).isEqualTo(plans);
        assertThat(ovs.vsctl("get", "open_vswitch", ".", "next_cfg") + ovs.flows())
                .isEqualTo(before);
    }

    @Test
    void a_dead_vswitchd_is_an_error_in_time_and_leaves_no_port() throws IOException {
        ovs.devices("cl-", 1);
        bridge.replace(List.of());
        bridge.close();
        bridge = SecureBridge.open(ovs.config().within(Duration.ofMillis(500)), metrics);
        bridge.replace(List.of());
        ovs.killSwitch();

        assertThatThrownBy(() -> bridge.add(List.of(PortPlanSamples.worker("cl-0", A))))
                .isInstanceOf(TimedOut.class)
                .hasMessageContaining("ovs-vswitchd");
        ovs.startSwitch();
        RealSwitch.until("no port", () -> ovsSays("list-ports", "br-secure").isBlank());
    }

    @Test
    void a_dead_database_is_waited_for() throws IOException {
        ovs.devices("cl-", 1);
        bridge.replace(List.of());
        ovs.killServer();
        ovs.startServer();

        bridge.add(List.of(PortPlanSamples.worker("cl-0", A)));

        assertThat(metrics.counter("bridge.reconnects.ovsdb").getCount()).isEqualTo(1);
    }

    @Test
    void a_rate_becomes_a_meter_and_ends_with_its_port() throws IOException {
        ovs.devices("cl-", 1);
        PortPlan plan = new PortPlan(
                "cl-0", 5, A, "job", PortRole.WORKER, Set.of(B), null, new PortRate(100_000, 10_000), "ticket");
        bridge.replace(List.of(plan));

        assertThat(ovs.ofctl("dump-meters", "br-secure")).contains("rate=100000 burst_size=10000");
        bridge.replace(List.of());
        assertThat(ovs.ofctl("dump-meters", "br-secure")).doesNotContain("rate=");
    }

    private int number(String device) throws IOException {
        return Integer.parseInt(ovs.vsctl("get", "interface", device, "ofport").strip());
    }

    /** The datapath numbers ports by itself. */
    private String datapath(int number) throws IOException {
        return ovs.appctl("dpif/show")
                .lines()
                .filter(line -> line.contains(" " + number + "/"))
                .map(line -> line.replaceAll(".* \\d+/(\\d+):.*", "$1"))
                .findAny()
                .orElseThrow();
    }

    private String trace(String flow) throws IOException {
        return ovs.appctl("ofproto/trace", "br-secure", flow);
    }

    private static String ip(int port, Endpoint from, Endpoint to) {
        return "in_port=" + port + ",dl_src=" + from.mac() + ",dl_dst=" + to.mac() + ",dl_type=0x0800,nw_src="
                + from.ipv4() + ",nw_dst=" + to.ipv4();
    }

    private String flowsOrNothing() {
        try {
            return ovs.flows();
        } catch (IOException e) {
            return "";
        }
    }

    private String ovsSays(String... arguments) {
        try {
            return ovs.vsctl(arguments);
        } catch (IOException e) {
            return "error: " + e.getMessage();
        }
    }
}
