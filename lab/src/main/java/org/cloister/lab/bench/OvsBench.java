package org.cloister.lab.bench;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabName;
import org.cloister.lab.ProgressLog;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.ovs.SecureBridge;

/**
 * Measures the time until the switch has the ports of jobs with their flows: ours compared with {@code ovs-vsctl},
 * which waits for vswitchd as we do, and {@code ovs-ofctl --bundle} with the same flows that we would install.
 */
final class OvsBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-ovs");
    private static final int MANY = 100;
    private static final int JOB = 4;
    private static final int VLAN = 301;
    /** A p99 needs a hundred values. */
    private static final int SINGLES = 100;

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        Lab lab = Lab.up(home, NAME, new ProgressLog(System.out));
        try {
            new Run(lab.host(1)).measure(repetitions, figures);
        } finally {
            Lab.remove(home, NAME);
        }
    }

    /** A run on one bridge with enough devices. */
    private record Run(LabHost host) {
        void measure(int repetitions, BenchFigures figures) throws IOException {
            StringBuilder devices = new StringBuilder();
            for (int i = 0; i < MANY; i++) {
                devices.append("link add " + device(i) + " type veth peer name x" + device(i) + "\n");
            }
            host.command("ip", "-batch", "-").reading(devices.toString()).succeed();
            List<PortPlan> plans = plans();
            double[] ours1 = new double[SINGLES];
            double[] peer1 = new double[SINGLES];
            double[] ours100 = new double[repetitions];
            double[] peer100 = new double[repetitions];
            double[] forked100 = new double[repetitions];
            try (SecureBridge bridge = SecureBridge.open(host.bridge(), new MetricRegistry())) {
                bridge.replace(List.of());
                warm(bridge, plans);
                for (int i = 0; i < SINGLES; i++) {
                    ours1[i] = ours(bridge, plans.subList(i, i + 1));
                    bridge.remove(Set.of(device(i)));
                }
                for (int i = 0; i < repetitions; i++) {
                    ours100[i] = ours(bridge, plans);
                    bridge.replace(List.of());
                }
            }
            for (int i = 0; i < SINGLES; i++) {
                peer1[i] = peer(i, String.join("\n", flows(plans.get(i), i + 1)) + "\n");
                host.ovs().vsctl("del-port", "br-secure", device(i));
            }
            for (int i = 0; i < repetitions; i++) {
                peer100[i] = onePortACall();
                remove();
                forked100[i] = oneCall();
                remove();
            }
            figures.times("port1", ours1, peer1);
            figures.times("ports100", ours100, peer100);
            figures.times("ports100_one_call", ours100, forked100);
        }

        /** Warms up the JVM, as in a daemon that has run for a while; the peer's programs are compiled. */
        private static void warm(SecureBridge bridge, List<PortPlan> plans) throws IOException {
            for (int i = 0; i < SINGLES; i++) {
                bridge.add(plans.subList(i % MANY, i % MANY + 1));
                bridge.replace(List.of());
            }
            for (int i = 0; i < 5; i++) {
                bridge.add(plans);
                bridge.replace(List.of());
            }
        }

        private static double ours(SecureBridge bridge, List<PortPlan> plans) throws IOException {
            long from = System.nanoTime();
            bridge.add(plans);
            return (System.nanoTime() - from) / 1e9;
        }

        private double peer(int number, String flows) throws IOException {
            long from = System.nanoTime();
            host.ovs().vsctl(add(number).toArray(String[]::new));
            host.command("ovs-ofctl", "--bundle", "add-flows", "br-secure", "-")
                    .reading(flows)
                    .succeed();
            return (System.nanoTime() - from) / 1e9;
        }

        private double onePortACall() throws IOException {
            long from = System.nanoTime();
            for (int i = 0; i < MANY; i++) {
                host.ovs().vsctl(add(i).toArray(String[]::new));
            }
            return (System.nanoTime() - from) / 1e9;
        }

        private double oneCall() throws IOException {
            List<String> arguments = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                arguments.add("--");
                arguments.addAll(add(i));
            }
            long from = System.nanoTime();
            host.ovs().vsctl(arguments.toArray(String[]::new));
            return (System.nanoTime() - from) / 1e9;
        }

        private void remove() throws IOException {
            List<String> arguments = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                arguments.addAll(List.of("--", "del-port", "br-secure", device(i)));
            }
            host.ovs().vsctl(arguments.toArray(String[]::new));
        }

        private static List<String> add(int number) {
            return List.of(
                    "add-port",
                    "br-secure",
                    device(number),
                    "tag=" + VLAN,
                    "external_ids:owner=bench",
                    "--",
                    "set",
                    "interface",
                    device(number),
                    "ofport_request=" + (2000 + number));
        }

        private static List<String> flows(PortPlan plan, int number) {
            String port = "in_port=" + (1999 + number);
            String self = ",dl_src=" + plan.self().mac();
            return List.of(
                    "table=0,priority=200," + port + ",vlan_tci=0,actions=goto_table:1",
                    "table=0,priority=100," + port + ",actions=drop",
                    "table=1,priority=200," + port + self + ",ip,nw_src="
                            + plan.self().ipv4() + ",actions=write_metadata:" + number + ",goto_table:3",
                    "table=1,priority=200," + port + self + ",arp,arp_spa="
                            + plan.self().ipv4() + ",actions=write_metadata:" + number + ",goto_table:3");
        }

        private static String device(int number) {
            return "cl-b" + number;
        }

        private static List<PortPlan> plans() {
            List<PortPlan> plans = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                Set<Endpoint> peers = new TreeSet<>();
                for (int peer = i / JOB * JOB; peer < i / JOB * JOB + JOB; peer++) {
                    if (peer != i) {
                        peers.add(endpoint(peer));
                    }
                }
                plans.add(new PortPlan(
                        device(i),
                        VLAN,
                        endpoint(i),
                        "job" + i / JOB,
                        PortRole.WORKER,
                        peers,
                        null,
                        null,
                        "bench/" + i));
            }
            return plans;
        }

        private static Endpoint endpoint(int number) {
            return Endpoint.of(
                    new MacAddress(String.format("02:00:00:00:00:%02x", number)),
                    new Ipv4Address("10.77.0." + (number + 1)));
        }
    }
}
