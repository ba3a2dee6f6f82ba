package org.cloister.lab.scenario;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.LabHost;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.SecureBridge;
import org.cloister.ovs.io.OvsException;

/**
 * A host's agent, reduced to its bridge, as a process that can be killed: it looks after the cast of a host, takes one
 * machine away and brings it back without end.
 */
final class BridgeProcess {
    private BridgeProcess() {}

    /** Arguments: the folder of Open vSwitch, the host's number, a process of the host. */
    public static void main(String[] args) throws IOException, InterruptedException {
        List<PortPlan> plans = BridgeMachines.plans(Integer.parseInt(args[1]));
        PortPlan last = plans.get(plans.size() - 1);
        BridgeConfig config = LabHost.bridge(Path.of(args[0]), Long.parseLong(args[2]));
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

    static Process start(LabHost host, int number) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BridgeProcess.class.getName(),
                        host.ovs().folder().toString(),
                        Integer.toString(number),
                        Long.toString(host.pid()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
