package org.cloister.lab.scenario;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.SecureBridge;
import org.cloister.ovs.link.OvsException;

/**
 * A host's agent, reduced to its bridge, as a process that can be killed: it looks after the cast of a host, takes one
 * machine away and brings it back without end.
 */
final class BridgeProcess {
    private BridgeProcess() {}

    /** Arguments: the folder of Open vSwitch, the host's number. */
    public static void main(String[] args) throws IOException, InterruptedException {
        List<PortPlan> plans = Cast.plans(Integer.parseInt(args[1]));
        PortPlan last = plans.get(plans.size() - 1);
        BridgeConfig config = BridgeConfig.of(Path.of(args[0]), "trunk0").withDatapath("netdev");
        try (SecureBridge bridge = SecureBridge.open(config, new MetricRegistry())) {
            while (true) {
                try {
                    bridge.replace(plans);
                    System.out.println("there");
                    TimeUnit.MILLISECONDS.sleep(20);
                    bridge.remove(Set.of(last.device()));
                } catch (OvsException e) {
                    // The daemons are being killed too: the next round tries again.
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    static Process start(Path folder, int host) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BridgeProcess.class.getName(),
                        folder.toString(),
                        Integer.toString(host))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
