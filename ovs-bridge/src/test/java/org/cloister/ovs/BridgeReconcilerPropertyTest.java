package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Any initial state of the bridge is reconciled with the plan; a second pass changes nothing, and the result equals a
 * new bridge's.
 */
class BridgeReconcilerPropertyTest {
    private static final int ROUNDS = 25;
    private static final int DEVICES = 8;

    @Test
    void any_state_becomes_the_wanted_one_and_stays_so() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (RealSwitch ovs = RealSwitch.start()) {
            ovs.devices("cl-", DEVICES);
            try (SecureBridge bridge = SecureBridge.open(ovs.config(), new MetricRegistry())) {
                bridge.replace(List.of());
            }
            // The numbers of ports differ from one history to the next: flows are compared with devices in their place.
            for (int round = 0; round < ROUNDS; round++) {
                disturb(ovs, random);
                List<PortPlan> plans = PortPlanSamples.jobs("cl-", DEVICES / 2, 2);
                Collections.shuffle(plans, random);
                List<PortPlan> some = plans.subList(0, random.nextInt(DEVICES + 1));
                try (SecureBridge bridge = SecureBridge.open(ovs.config(), new MetricRegistry())) {
                    bridge.replace(some);
                    String once = state(ovs);
                    String counted = ovs.vsctl("get", "open_vswitch", ".", "next_cfg");
                    bridge.replace(some);
                    assertThat(state(ovs)).as("seed %d, again", seed).isEqualTo(once);
                    assertThat(ovs.vsctl("get", "open_vswitch", ".", "next_cfg"))
                            .isEqualTo(counted);
                    bridge.replace(List.of());
                    bridge.replace(some);
                    assertThat(state(ovs)).as("seed %d, from nothing", seed).isEqualTo(once);
                }
            }
        }
    }

    private static String state(RealSwitch ovs) throws IOException {
        String flows = ovs.flows();
        List<String> rows = new ArrayList<>();
        for (String device :
                ovs.vsctl("list-ports", "br-secure").lines().sorted().toList()) {
            String number = ovs.vsctl("get", "interface", device, "ofport").strip();
            flows = flows.replaceAll("in_port=" + number + "\\b", "in_port=" + device)
                    .replaceAll("output:" + number + "\\b", "output:" + device);
            rows.add(device + ovs.vsctl("get", "port", device, "tag", "external_ids"));
        }
        return rows + "\n" + flows.lines().map(String::strip).sorted().toList()
                + ovs.vsctl("get-fail-mode", "br-secure");
    }

    /** What a wild administrator could do, one to four times. */
    private static void disturb(RealSwitch ovs, Random random) throws IOException {
        for (int i = random.nextInt(4); i >= 0; i--) {
            String device = "cl-" + random.nextInt(DEVICES);
            switch (random.nextInt(6)) {
                case 0 -> ovs.ofctl("del-flows", "br-secure", "table=" + random.nextInt(4));
                case 1 ->
                    ovs.ofctl("add-flow", "br-secure", "table=" + random.nextInt(6) + ",priority=7,actions=NORMAL");
                case 2 -> ovs.vsctl("--if-exists", "del-port", device);
                case 3 -> ovs.vsctl("set", "bridge", "br-secure", "fail_mode=standalone");
                case 4 ->
                    ovs.vsctl(
                            "--may-exist",
                            "add-port",
                            "br-secure",
                            device,
                            "--",
                            "set",
                            "port",
                            device,
                            "external_ids:cloister-agent=agent-host",
                            "external_ids:cloister-self=rubbish");
                default -> {
                    String meter = "meter=" + (1 + random.nextInt(9));
                    ovs.ofctl("del-meter", "br-secure", meter);
                    ovs.ofctl("add-meter", "br-secure", meter + ",kbps,band=type=drop,rate=9");
                }
            }
        }
    }
}
