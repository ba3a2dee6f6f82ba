package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabMachine;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.Sandbox;

/**
 * A site of booted machines on this one: relay with slurmctld, compute hosts, an administrator's. Their QEMUs run in
 * one {@link Sandbox}, so all ends with its first process, and {@link Lab#remove} removes a site in any state.
 */
public final class BootedSite {
    /** File in a lab's folder that tells a site of booted machines: its release, and the number of its hosts. */
    private static final String MARK = "booted";

    private static final String NETWORK = "network";
    /** Processors of a host. The emulator's KVM has a fault with two (docs/lab.md), so a host has one VM. */
    private static final int HOST_CPUS = 1;

    private static final int RELAY_MIB = 2048;
    private static final int ADMIN_MIB = 1024;

    private static final int FIRST_HOST = 2;

    private static final List<String> CLOCK = List.of("chrony");
    /** Units of all compute hosts, as Debian has them. */
    private static final List<String> OF_HOSTS = List.of("chrony", "libvirtd", "openvswitch-switch");

    private final List<BootedMachine> machines;
    private final LabMachine network;

    private BootedSite(LabMachine network, List<BootedMachine> machines) {
        this.network = network;
        this.machines = List.copyOf(machines);
    }

    /** Size and release of a site. */
    public record Plan(String suite, int hosts, int hostMemoryMib) {
        private static Plan parse(String text) {
            String[] words = text.strip().split(" ", -1);
            return new Plan(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        }

        private String text() {
            return suite + " " + hosts + " " + hostMemoryMib + "\n";
        }
    }

    /** Starts a site from nothing; a failure leaves nothing of it. */
    public static BootedSite up(LabHome home, LabName name, Plan plan, ProgressLog steps) throws IOException {
        Path folder = home.folder(name);
        if (Files.exists(folder) || !Sandbox.find(name).isEmpty()) {
            throw new LabException(
                    "site " + name + ": there is one already in " + folder,
                    "lab/site status shows it, lab/site down removes it");
        }
        boolean up = false;
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve(MARK), plan.text());
            Files.writeString(folder.resolve("hosts"), hostsFile(plan), StandardCharsets.US_ASCII);
            BootedSite site = steps.step("network of the site", () -> {
                Sandbox sandbox = Sandbox.start(home, name, NETWORK, folder.resolve(NETWORK), LabRelease.own());
                LabMachine network = network(folder, sandbox);
                BootedNetwork.create(network);
                BootedEmulator.install(home, network);
                TerminalSession.install(network);
                return of(home, folder, network, plan);
            });
            for (BootedMachine machine : site.machines) {
                BootedNetwork.join(site.network, machine.name());
                machine.start();
            }
            List<ProgressLog.Action> boots = new ArrayList<>();
            site.machines.forEach(machine -> boots.add(machine::awaitUp));
            steps.runStep("boot of " + site.machines.size() + " machines", () -> ParallelActions.run(boots));
            site.network
                    .command(
                            "busybox",
                            "httpd",
                            "-p",
                            BootedNetwork.PREFIX + "1:80",
                            "-h",
                            site.web().toString())
                    .succeed();
            List<ProgressLog.Action> settings = new ArrayList<>();
            site.machines.forEach(machine -> settings.add(() -> site.prepare(machine, hostsFile(plan))));
            steps.runStep("names, clocks, the trunk's devices", () -> ParallelActions.run(settings));
            site.slurm().start(steps);
            if (plan.hosts() > 1) {
                steps.runStep(
                        "NFS: the storage of drives", () -> BootedStorage.share(site.machines.get(1), site.hosts()));
            }
            up = true;
            return site;
        } finally {
            if (!up) {
                Lab.remove(home, name);
            }
        }
    }

    /** Gives a machine what it needs before Slurm. The relay's keeps the site's time; there is no other source. */
    private void prepare(BootedMachine machine, String names) throws IOException {
        String source = machine.equals(machines.get(0))
                ? "local stratum 8\nallow " + BootedNetwork.PREFIX + "0/24\n"
                : "server relay iburst\n";
        machine.write("/etc/hosts", names);
        machine.write("/etc/chrony/chrony.conf", source + "driftfile /var/lib/chrony/chrony.drift\nmakestep 1 3\n");
        machine.write(
                "/etc/systemd/network/50-trunk.network", "[Match]\nName=eth1\n[Network]\nLinkLocalAddressing=no\n");
        machine.succeed("systemctl restart chrony systemd-networkd");
    }

    /** Returns the running site of this name. */
    public static BootedSite attach(LabHome home, LabName name) throws IOException {
        Path folder = home.folder(name);
        if (!Files.exists(folder.resolve(MARK))) {
            throw new LabException("site " + name + ": not up", "lab/site up starts it");
        }
        Sandbox sandbox = Sandbox.find(name, NETWORK)
                .orElseThrow(() -> new LabException(
                        "site " + name + ": its network has no process any more", "lab/site down, then lab/site up"));
        Plan plan = Plan.parse(Files.readString(folder.resolve(MARK)));
        return of(home, folder, network(folder, sandbox), plan);
    }

    /** Returns whether a lab is such a site. */
    public static boolean isOne(LabHome home, LabName name) {
        return Files.exists(home.folder(name).resolve(MARK));
    }

    public List<BootedMachine> machines() {
        return machines;
    }

    public BootedMachine machine(String name) throws LabException {
        return machines.stream()
                .filter(machine -> machine.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new LabException(
                        "machine " + name + ": there is none",
                        "want one of "
                                + machines.stream().map(BootedMachine::name).toList()));
    }

    /** Returns the namespaces from which all machines can be reached: there owners and members act. */
    public LabMachine network() {
        return network;
    }

    /** Returns a person's device, which is made at the first call. */
    public OwnDevice device(String person) throws IOException {
        return OwnDevice.create(
                person, network, network.folder().resolveSibling("people").resolve(person));
    }

    /** Returns the folder that the site's web server serves, at {@code http://outside/}. */
    public Path web() throws IOException {
        return Files.createDirectories(network.folder().resolveSibling("web"));
    }

    public BootedSlurm slurm() throws LabException {
        return new BootedSlurm(machine("relay"), hosts());
    }

    public List<BootedMachine> hosts() {
        return machines.subList(FIRST_HOST, machines.size());
    }

    private static BootedSite of(LabHome home, Path folder, LabMachine network, Plan plan) throws IOException {
        BootedDisk disk = BootedDisk.of(home, plan.suite());
        List<BootedMachine> machines = new ArrayList<>();
        machines.add(new BootedMachine("relay", 2, 1, RELAY_MIB, CLOCK, disk, network, folder.resolve("relay")));
        machines.add(new BootedMachine("admin", 3, 1, ADMIN_MIB, CLOCK, disk, network, folder.resolve("admin")));
        for (int i = 1; i <= plan.hosts(); i++) {
            String host = "h" + i;
            machines.add(new BootedMachine(
                    host, 3 + i, HOST_CPUS, plan.hostMemoryMib(), OF_HOSTS, disk, network, folder.resolve(host)));
        }
        return new BootedSite(network, machines);
    }

    private static LabMachine network(Path folder, Sandbox sandbox) {
        return new LabMachine(NETWORK, BootedNetwork.PREFIX + "1", folder.resolve(NETWORK), sandbox);
    }

    private static String hostsFile(Plan plan) {
        StringBuilder text = new StringBuilder("127.0.0.1 localhost\n" + BootedNetwork.PREFIX + "1 outside\n"
                + BootedNetwork.PREFIX + "2 relay\n" + BootedNetwork.PREFIX + "3 admin\n");
        for (int i = 1; i <= plan.hosts(); i++) {
            text.append(BootedNetwork.PREFIX)
                    .append(3 + i)
                    .append(" h")
                    .append(i)
                    .append('\n');
        }
        return text.toString();
    }
}
