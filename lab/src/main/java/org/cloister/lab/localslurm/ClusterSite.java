package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabMachine;
import org.cloister.lab.LabMunge;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.Sandbox;
import org.cloister.vm.controller.slurm.LocalSlurmConf;

/**
 * Location of a cluster: a folder with its key, users and homes, a head node, and a network whose switch is on the head
 * node. It is identified by names alone, so that any process finds what another one made.
 */
public final class ClusterSite {
    static final String HEAD_ADDRESS = "10.90.0.1";
    /** The folder on the head node; {@link #run} is its path from outside. */
    static final String RUN = "/run/cloister";

    private static final String RELEASE = "release";

    private final LabHome home;
    private final LabName lab;
    private final String name;
    private final Path folder;
    private final String account;

    ClusterSite(LabHome home, LabName lab, String name) {
        this.home = home;
        this.lab = lab;
        this.name = name;
        // The Local Slurm uses the product's account; a plain Slurm runs as root.
        this.account = name.equals(SlurmPairFixture.LOCAL) ? LocalSlurmConf.ACCOUNT : "root";
        this.folder = home.folder(lab).resolve(name);
    }

    LabName lab() {
        return lab;
    }

    /** Returns the name of the cluster and of its head node. */
    String name() {
        return name;
    }

    Path folder() {
        return folder;
    }

    Sandbox startMachine(String machine, Path own) throws IOException {
        return Sandbox.start(home, lab, machine, own, release());
    }

    /** Returns the release of all of the cluster's machines, in whatever process they are started. */
    private LabRelease release() throws IOException {
        return LabRelease.of(home, Files.readString(folder.resolve(RELEASE)).strip());
    }

    /** Returns the folder of agent-vm's files in {@code /run}. */
    Path run() {
        return folder.resolve("run");
    }

    Path mungeKey() {
        return folder.resolve("munge.key");
    }

    LabMachine head() throws IOException {
        Sandbox sandbox = Sandbox.find(lab, name)
                .orElseThrow(() -> new LabException(
                        "lab " + lab + ": machine " + name + " has no process any more", "begin again"));
        return new LabMachine(name, HEAD_ADDRESS, folder.resolve(name), sandbox);
    }

    LabCluster cluster() throws IOException {
        return new LabCluster(head(), folder, account);
    }

    /** Starts everything but nodes; slurmctld answers when this returns. */
    void start(String configuration, LabRelease release) throws IOException {
        writeFiles(release);
        Path own = Files.createDirectories(folder.resolve(name));
        createBindTargets(own);
        LabMachine head = new LabMachine(name, HEAD_ADDRESS, own, startMachine(name, own));
        // A fixed address: a bridge without one takes the lowest of its ports', which changes as nodes are added and
        // removed. Nodes that know the old one cannot reach any other machine then until their neighbour tables forget
        // it.
        ip(head, "link", "add", "name", "lan", "address", "02:00:0a:5a:00:01", "type", "bridge");
        ip(head, "link", "set", "lan", "up");
        ip(head, "address", "add", HEAD_ADDRESS + "/16", "dev", "lan");
        head.command("mkdir", RUN).succeed();
        head.command("mount", "--bind", Files.createDirectories(run()).toString(), RUN)
                .succeed();
        LabMunge.start(head, mungeKey());
        Files.writeString(head.folder("etc/slurm").resolve("slurm.conf"), configuration);
        Files.writeString(head.folder("etc/slurm").resolve("cgroup.conf"), "IgnoreSystemd=yes\n");
        own(head.folder("var/spool/slurmctld"));
        if (!Files.exists(run().resolve("bell"))) {
            own(Files.createFile(run().resolve("bell")));
        }
        LabCluster cluster = new LabCluster(head, folder, account);
        cluster.accounting().start();
        cluster.accounting()
                .add(ClusterUser.ACCOUNT, List.of("root", ClusterUser.ALICE.name(), ClusterUser.BOB.name()));
        cluster.startController("-c");
        // slurmctld 26.05 does not start again when it was killed before it had written its associations' usage, which
        // it does every five minutes and when it is stopped.
        cluster.terminateController();
        cluster.startController();
    }

    /** Creates the mount points at which homes, passwd and group of the cluster cover those of the real machine. */
    void createBindTargets(Path machine) throws IOException {
        Files.writeString(
                Files.createDirectories(machine).resolve("binds"),
                "%1$s/etc /etc%n%1$s/home /home%n".formatted(folder));
    }

    /** Keeps the logs of a cluster that did not start. */
    void keepLogs() throws IOException {
        Path kept = home.cache("failed-" + lab).resolve(name);
        LabHome.delete(kept);
        Path logs = folder.resolve(name).resolve("log");
        if (Files.isDirectory(logs)) {
            Files.createDirectories(kept.getParent());
            Files.move(logs, kept);
        }
    }

    private void own(Path path) throws IOException {
        LabCommand.of("chown", account + ":" + account, path.toString()).succeed();
    }

    private void writeFiles(LabRelease release) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(RELEASE), release + "\n");
        Path etc = release.root().orElse(Path.of("/")).resolve("etc");
        LabCommand.of("cp", "-a", etc.toString(), folder.toString()).succeed();
        Path homes = Files.createDirectories(folder.resolve("home"));
        for (ClusterUser user : ClusterUser.ALL) {
            user.addTo(folder.resolve("etc"), homes);
        }
        // Siblings of the folders of the head node and of the nodes.
        for (Path beside : List.of(folder, Files.createDirectories(folder.resolve("nodes")))) {
            Files.writeString(
                    beside.resolve("hosts"),
                    "127.0.0.1 localhost\n" + HEAD_ADDRESS + " " + name + "\n",
                    StandardCharsets.US_ASCII);
        }
        LabMunge.writeKey(mungeKey());
    }

    private static void ip(LabMachine head, String... arguments) throws IOException {
        String[] argv = new String[arguments.length + 1];
        argv[0] = "ip";
        System.arraycopy(arguments, 0, argv, 1, arguments.length);
        head.sandbox().networkCommand(List.of(argv)).succeed();
    }
}
