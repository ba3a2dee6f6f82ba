package org.cloister.lab.localslurm;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabMachine;
import org.cloister.lab.Sandbox;

/** Starts and stops nodes of a cluster: namespaces with a port on the cluster's network, munged and a slurmd. */
final class NamespaceNodes {
    private static final int PER_PART = 250;
    private static final int PARTS = 250;
    private static final long LEAST_TMP_MIB = 64;

    private final ClusterSite site;
    private final LabMachine head;

    NamespaceNodes(ClusterSite site, LabMachine head) {
        this.site = site;
        this.head = head;
    }

    /** Returns the number of addresses; after the last one the first is used again. */
    static int addresses() {
        return PER_PART * PARTS;
    }

    /** @param number from 0 */
    static String address(int number) {
        int place = number % addresses();
        return "10.90." + (1 + place / PER_PART) + "." + (1 + place % PER_PART);
    }

    /** Starts the machine alone: it has no port yet and runs nothing. */
    Sandbox boot(String node) throws IOException {
        Path folder = folder(node);
        site.createBindTargets(folder);
        return site.startMachine(node, folder);
    }

    /** Adds a port; the switch's end is deleted with the machine. */
    void join(Sandbox machine, int number) throws IOException {
        String port = "n" + number % addresses();
        head.sandbox()
                .networkCommand(List.of("ip", "-batch", "-"))
                .reading("link add name %1$s type veth peer name eth0 netns %2$d%nlink set %1$s master lan up%n"
                        .formatted(port, machine.pid()))
                .succeed();
    }

    /**
     * Starts munged and slurmd; the node has registered, or is about to, when this returns.
     *
     * @param scratchMib of its /tmp: a node with less than it reports is drained as soon as it registers
     * @param arguments of slurmd
     */
    void serve(Sandbox machine, int number, long scratchMib, List<String> arguments) throws IOException {
        Path folder = folder(machine.name());
        Path script = folder.resolve("node.sh");
        try (InputStream in = NamespaceNodes.class.getResourceAsStream("node.sh")) {
            Files.write(script, in.readAllBytes());
        }
        List<String> argv = new ArrayList<>(List.of(
                "sh",
                script.toString(),
                address(number),
                site.mungeKey().toString(),
                Math.max(scratchMib, LEAST_TMP_MIB) + "m",
                "slurmd",
                "--conf-server",
                ClusterSite.HEAD_ADDRESS + ":6817",
                "-L",
                log(machine.name()).toString()));
        argv.addAll(arguments);
        machine.command(argv).succeed();
    }

    /** Ends the machine with all that runs there. */
    void stop(Sandbox machine) throws IOException {
        machine.kill();
        LabHome.delete(folder(machine.name()));
    }

    /** Returns the log of the node's slurmd, which stays after the node's end. */
    Path log(String node) throws IOException {
        return Files.createDirectories(site.folder().resolve("log")).resolve(node + ".log");
    }

    private Path folder(String node) {
        return site.folder().resolve("nodes").resolve(node);
    }
}
