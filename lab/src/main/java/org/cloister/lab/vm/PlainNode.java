package org.cloister.lab.vm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;

/**
 * An ordinary node as administrators run it: the guest image with a plain {@code slurmd}, and a slurmctld for it on the
 * host, which the node reaches through the host's bridge. It has no part of Cloister: no agent, no drive, no guard, no
 * tunnel.
 */
public final class PlainNode implements NodeStart, AutoCloseable {
    private static final String NODE = "plain";
    private static final String DEVICE = "plain0";
    private static final String HEAD = "10.99.0.1";
    private static final String ADDRESS = "10.99.0.2";
    private static final String PREFIX = "/24";
    private static final int VLAN = 181;
    private static final int CPUS = 1;
    /** Fraction of the guest's memory that Slurm is configured with: the kernel and the overlay use the rest. */
    private static final double OFFERED = 0.7;

    private static final Duration LIMIT = Duration.ofMinutes(4);
    /** A pause, because each query takes processor time from the guest. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final LabHost host;
    private final Path conf;
    private final LabVmSpec spec;

    private PlainNode(LabHost host, Path conf, LabVmSpec spec) {
        this.host = host;
        this.conf = conf;
        this.spec = spec;
    }

    /**
     * Starts the node's slurmctld.
     *
     * @param mungeKey of the host's munged
     * @param memoryMib of the guest
     */
    public static PlainNode on(LabHost host, Path image, Path mungeKey, int memoryMib) throws IOException {
        Path folder = host.folder("plain");
        String text = configuration(host, folder, memoryMib);
        Path conf = Files.writeString(folder.resolve("slurm.conf"), text);
        Path image2 = PlainLayer.build(image, host.folder("plain-image"), mungeKey, text, NODE, ADDRESS + PREFIX);
        LabVmSpec spec = LabVmSpec.of(NODE, image2).withShape(CPUS, memoryMib).withVlan(VLAN);
        PlainNode node = new PlainNode(host, conf, spec);
        node.network();
        host.command("slurmctld", "-c", "-f", conf.toString()).succeed();
        return node;
    }

    @Override
    public Started start() throws IOException {
        awaitState("a slurmctld that answers", "");
        slurm("scontrol", "update", "NodeName=" + NODE, "State=DOWN", "Reason=gone")
                .succeed();
        awaitState("a node that is down", "down");
        try (LabVm vm = host.boot(spec)) {
            long idleNs = awaitIdle(vm);
            vm.awaitRunner();
            return new Started(GuestClock.of(vm).at(idleNs), Map.of());
        }
    }

    private long awaitIdle(LabVm vm) throws IOException {
        try {
            awaitState("an idle node", "idle");
            return System.nanoTime();
        } catch (LabException e) {
            String[] journal = {"journalctl", "-b", "-n", "60", "-u", "munge", "-u", "slurmd", "-u", "plain-network"};
            throw new LabException(
                    e.getMessage() + "\n" + vm.awaitRunner().run(journal).out(), "read " + vm.consoleFile(), e);
        }
    }

    private void awaitState(String what, String state) throws IOException {
        Poll.until(what, LIMIT, "read the logs of slurmctld and of the guest", PAUSE, () -> {
            LabCommand.Output result =
                    slurm("sinfo", "-h", "-n", NODE, "-o", "%T").run();
            String found = result.out().strip();
            return result.exit() == 0 && !found.isEmpty() && (state.isEmpty() || isState(found, state));
        });
    }

    /** Compares states. A mark after a state means that the node does not answer, which one that is down need not. */
    private static boolean isState(String found, String state) {
        return found.equals(state) || (state.equals("down") && found.equals("down*"));
    }

    /** Makes the host itself a port of its bridge. */
    private void network() throws IOException {
        host.ovs().forwardWithinVlans();
        host.ovs()
                .vsctl(
                        "add-port",
                        "br-secure",
                        DEVICE,
                        "tag=" + VLAN,
                        "--",
                        "set",
                        "interface",
                        DEVICE,
                        "type=internal");
        host.command("ip", "address", "add", HEAD + PREFIX, "dev", DEVICE).succeed();
        host.command("ip", "link", "set", DEVICE, "up").succeed();
    }

    private LabCommand slurm(String... argv) {
        return host.command(argv).with(Map.of("SLURM_CONF", conf.toString()));
    }

    /** Returns the configuration; the node's plug-ins are those of a worker. */
    private static String configuration(LabHost host, Path folder, int memoryMib) throws IOException {
        return """
                ClusterName=plain
                SlurmctldHost=%1$s(%2$s)
                SlurmctldPort=6917
                SlurmdPort=6918
                SlurmUser=root
                SlurmdUser=root
                AuthType=auth/munge
                CredType=cred/munge
                StateSaveLocation=%3$s
                SlurmdSpoolDir=/run/slurmd
                SlurmctldPidFile=/run/slurmctld.pid
                SlurmdPidFile=/run/slurmd.pid
                SlurmctldLogFile=%4$s
                PrologFlags=Alloc
                ProctrackType=proctrack/linuxproc
                TaskPlugin=task/none
                JobAcctGatherType=jobacct_gather/linux
                MpiDefault=none
                SelectType=select/cons_tres
                SelectTypeParameters=CR_Core_Memory
                GresTypes=gpu
                ReturnToService=2
                NodeName=%5$s NodeAddr=%6$s CPUs=%7$d RealMemory=%8$d State=UNKNOWN
                PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
                """.formatted(host.name(), HEAD, folder, host.log("slurmctld-plain"), NODE, ADDRESS, CPUS, (int)
                (memoryMib * OFFERED));
    }

    @Override
    public void close() throws IOException {
        slurm("scontrol", "shutdown").run();
        host.ovs().vsctl("--if-exists", "del-port", "br-secure", DEVICE);
    }
}
