package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.ovs.io.OvsException.TimedOut;
import org.junit.jupiter.api.Test;

class BridgeViewTest {
    @Test
    void shows_what_is_there_what_differs_and_why_a_frame_is_dropped() throws IOException {
        try (RealSwitch ovs = RealSwitch.start()) {
            ovs.devices("cl-", 4);
            try (SecureBridge bridge = SecureBridge.open(ovs.config(), new MetricRegistry())) {
                bridge.replace(PortPlanSamples.jobs("cl-", 2, 2));
            }
            BridgeView view = BridgeView.read(ovs.config());
            assertThat(view.ports())
                    .extracting(port -> port.plan().device())
                    .containsExactly("cl-0", "cl-1", "cl-2", "cl-3");
            assertThat(view.differences()).isEmpty();
            assertThat(view.dropped()).containsKey(DropReason.ISOLATION);

            ovs.run("/usr/sbin/nft", "delete", "table", "arp", "cloister-br-secure");
            ovs.ofctl("add-flow", "br-secure", "table=9,priority=7,actions=NORMAL");
            ovs.ofctl("del-flows", "br-secure", "table=0");
            assertThat(BridgeView.read(ovs.config()).differences())
                    .hasSizeGreaterThan(5)
                    .anySatisfy(each -> assertThat(each.toString()).startsWith("flow table=9,priority=7"))
                    .anySatisfy(each -> assertThat(each.toString()).startsWith("table arp cloister-br-secure"));
        }
    }

    @Test
    void a_trace_says_in_words_what_becomes_of_a_frame() throws IOException {
        try (RealSwitch ovs = RealSwitch.start()) {
            ovs.devices("cl-", 2);
            try (SecureBridge bridge = SecureBridge.open(ovs.config(), new MetricRegistry())) {
                bridge.replace(PortPlanSamples.jobs("cl-", 1, 2));
            }
            String number = ovs.vsctl("get", "interface", "cl-0", "ofport").strip();
            String from = "in_port=" + number + ",dl_type=0x0800,dl_dst=02:00:00:00:00:02,nw_dst=10.77.0.2,";
            String own = "dl_src=02:00:00:00:00:01,nw_src=10.77.0.1";
            String forged = "dl_src=02:00:00:00:00:01,nw_src=10.77.0.9";

            FrameTrace passes = FrameTrace.of(ovs.appctl("ofproto/trace", "br-secure", from + own));
            assertThat(passes.passes()).isTrue();
            assertThat(passes.steps()).hasSize(4);
            FrameTrace dropped = FrameTrace.of(ovs.appctl("ofproto/trace", "br-secure", from + forged));
            assertThat(dropped.passes()).isFalse();
            assertThat(dropped.steps())
                    .anySatisfy(step -> assertThat(step)
                            .startsWith("machine that sends it: the frame does not have the addresses"));
        }
    }

    @Test
    void no_daemon_is_an_error_in_time() {
        BridgeConfig config = BridgeConfig.of(Path.of("/nonexistent"), null).within(Duration.ofMillis(200));
        assertThatThrownBy(() -> BridgeView.read(config))
                .isInstanceOf(TimedOut.class)
                .hasMessageContaining("see whether ovsdb-server and ovs-vswitchd run");
    }
}
