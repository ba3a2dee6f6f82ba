package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traffic that leaves a project and returns, through a gateway on this host and on another one. */
class EgressTest {
    private static final Endpoint WORKER = PortPlanSamples.endpoint(1);
    private static final Endpoint UNKNOWN = PortPlanSamples.endpoint(3);
    private static final Endpoint GATEWAY = PortPlanSamples.endpoint(2);
    private static final Egress EGRESS = new Egress(
            GATEWAY,
            Set.of(EgressDestination.parse("192.0.2.7:tcp:27000"), EgressDestination.parse("192.0.2.8:udp:123")));

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void only_the_listed_services_are_reached_and_only_answer(boolean here) throws IOException {
        try (RealSwitch ovs = RealSwitch.start()) {
            ovs.devices("cl-", 4);
            try (SecureBridge bridge = SecureBridge.open(ovs.config("cl-3"), new MetricRegistry())) {
                PortPlan worker = plan("cl-0", WORKER, PortRole.WORKER, Set.of(), EGRESS);
                PortPlan unknown = plan("cl-2", UNKNOWN, PortRole.WORKER, Set.of(), null);
                PortPlan gateway = plan("cl-1", GATEWAY, PortRole.GATEWAY, Set.of(WORKER), EGRESS);
                bridge.replace(here ? List.of(worker, unknown, gateway) : List.of(worker, unknown));
            }
            String out = from(ovs, "cl-0", WORKER, GATEWAY) + ",PROTOCOL,nw_src=10.77.0.1";
            assertThat(passes(ovs, out, "tcp", "nw_dst=192.0.2.7,tp_dst=27000")).isTrue();
            assertThat(passes(ovs, out, "udp", "nw_dst=192.0.2.8,tp_dst=123")).isTrue();
            assertThat(passes(ovs, out, "tcp", "nw_dst=192.0.2.7,tp_dst=27001")).isFalse();
            assertThat(passes(ovs, out, "udp", "nw_dst=192.0.2.7,tp_dst=27000")).isFalse();
            assertThat(passes(ovs, out, "tcp", "nw_dst=192.0.2.9,tp_dst=27000")).isFalse();
            assertThat(passes(ovs, out, "icmp", "nw_dst=10.77.0.2")).isFalse();
            String other = from(ovs, "cl-2", UNKNOWN, GATEWAY) + ",PROTOCOL,nw_src=10.77.0.3";
            assertThat(passes(ovs, other, "tcp", "nw_dst=192.0.2.7,tp_dst=27000"))
                    .isFalse();

            String back = (here ? "" : "dl_vlan=" + PortPlanSamples.VLAN + ",")
                    + from(ovs, here ? "cl-1" : "cl-3", GATEWAY, WORKER) + ",PROTOCOL,nw_dst=10.77.0.1";
            assertThat(passes(ovs, back, "tcp", "nw_src=192.0.2.7,tp_src=27000,tcp_flags=ack"))
                    .isTrue();
            assertThat(passes(ovs, back, "tcp", "nw_src=192.0.2.7,tp_src=27000,tcp_flags=syn"))
                    .isFalse();
            assertThat(passes(ovs, back, "tcp", "nw_src=192.0.2.7,tp_src=22,tcp_flags=ack"))
                    .isFalse();
            assertThat(passes(ovs, back, "udp", "nw_src=192.0.2.8,tp_src=123")).isTrue();
            assertThat(passes(ovs, back, "icmp", "nw_src=10.77.0.2")).isFalse();
        }
    }

    @Test
    void a_gateway_without_destinations_is_refused() {
        assertThatThrownBy(() -> plan("cl-1", GATEWAY, PortRole.GATEWAY, Set.of(WORKER), null))
                .hasMessageContaining("egress: want destinations of a gateway");
    }

    private static PortPlan plan(
            String device, Endpoint self, PortRole role, Set<Endpoint> peers, @Nullable Egress egress) {
        return new PortPlan(device, PortPlanSamples.VLAN, self, "job", role, peers, egress, null, "ticket/" + device);
    }

    private static String from(RealSwitch ovs, String device, Endpoint self, Endpoint to) throws IOException {
        String number = ovs.vsctl("get", "interface", device, "ofport").strip();
        return "in_port=" + number + ",dl_src=" + self.mac() + ",dl_dst=" + to.mac();
    }

    private static boolean passes(RealSwitch ovs, String frame, String protocol, String rest) throws IOException {
        String flow = frame.replace("PROTOCOL", protocol) + "," + rest.replace("tp_", protocol + "_");
        return FrameTrace.of(ovs.appctl("ofproto/trace", "br-secure", flow)).passes();
    }
}
