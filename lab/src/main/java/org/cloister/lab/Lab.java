package org.cloister.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster on this machine: a site with the Global Slurm and compute hosts, joined by a management network and by a
 * VLAN trunk between the hosts' bridges. Nothing of it is in the machine's own network, and all of it ends with the
 * processes that {@link Sandbox} finds; several labs run side by side under different names.
 */
public final class Lab {
    /** Changes when a lab of an older build cannot be used by this one. */
    private static final String VERSION = "1";

    /** A file of a lab whose cgroups are to be taken away with it. */
    private static final String CONFINED = "confined";

    private static final String SITE = "site";
    private static final int HOSTS = 2;
    private static final String NETWORK = "192.168.140.";

    private final LabName name;
    private final Machine site;
    private final List<Host> hosts;
    private final GlobalSlurm slurm;

    private Lab(LabName name, Machine site, List<Host> hosts) {
        this.name = name;
        this.site = site;
        this.hosts = List.copyOf(hosts);
        this.slurm = new GlobalSlurm(site, hosts.stream().map(Host::machine).toList());
    }

    /** Brings a lab up from nothing; whatever fails, nothing of it stays. */
    public static Lab up(LabHome home, LabName name, Steps steps) throws IOException {
        Path folder = home.folder(name);
        if (Files.exists(folder) || !Sandbox.find(name).isEmpty()) {
            throw new LabException(
                    "lab " + name + ": there is one already in " + folder, "lab/status shows it, lab/down removes it");
        }
        boolean up = false;
        try {
            Lab lab = start(home, name, steps);
            up = true;
            return lab;
        } finally {
            if (!up) {
                keepLogs(home, name);
                remove(home, name);
            }
        }
    }

    /** The lab of this name that is up. */
    public static Lab attach(LabHome home, LabName name) throws IOException {
        Path folder = home.folder(name);
        if (!Files.exists(folder)) {
            throw new LabException("lab " + name + ": not up", "lab/up starts it");
        }
        Path versionFile = folder.resolve("version");
        String version =
                Files.exists(versionFile) ? Files.readString(versionFile).strip() : "none";
        if (!version.equals(VERSION)) {
            throw new LabException(
                    "lab " + name + ": made by version " + version + " of the lab, this is version " + VERSION,
                    "lab/down removes it, lab/up makes a new one");
        }
        List<Host> hosts = new ArrayList<>();
        for (int i = 1; i <= HOSTS; i++) {
            hosts.add(Host.of(found(home, name, "h" + i, i + 1), Accelerator.of(folder)));
        }
        return new Lab(name, found(home, name, SITE, 1), hosts);
    }

    /** Removes every trace of a lab, in whatever state it is; nothing to remove is not an error. */
    public static void remove(LabHome home, LabName name) throws IOException {
        for (Sandbox sandbox : Sandbox.find(name)) {
            sandbox.kill();
        }
        if (Files.exists(home.folder(name).resolve(CONFINED))) {
            for (int i = 1; i <= HOSTS; i++) {
                StepCgroups.remove("h" + i);
            }
        }
        LabHome.delete(home.folder(name));
    }

    public LabName name() {
        return name;
    }

    public List<Host> hosts() {
        return hosts;
    }

    /** @param number from 1 */
    public Host host(int number) {
        return hosts.get(number - 1);
    }

    public GlobalSlurm slurm() {
        return slurm;
    }

    /** As {@link GlobalSlurm#confine}. */
    public void confine() throws IOException {
        Files.writeString(site.folder().resolveSibling(CONFINED), "");
        slurm.confine();
    }

    /** A command on the site's machine, where both networks between the hosts can be watched. */
    public Command onSite(String... argv) {
        return site.command(argv);
    }

    private static Lab start(LabHome home, LabName name, Steps steps) throws IOException {
        Path folder = Files.createDirectories(home.folder(name));
        Files.writeString(folder.resolve("version"), VERSION + "\n");
        Files.writeString(folder.resolve("hosts"), hostsFile(), StandardCharsets.US_ASCII);
        Accelerator accelerator = steps.step("accelerator: does KVM run a guest?", () -> Accelerator.choose(folder));
        steps.say("guests run on " + accelerator);
        Path caches = Files.createDirectories(home.cache(""));
        List<Host> hosts = new ArrayList<>();
        Machine site = steps.step("namespaces and links", () -> {
            Machine machine = machine(folder, SITE, 1, Sandbox.start(name, SITE, folder.resolve(SITE), caches));
            Network network = Network.start(machine);
            for (int i = 1; i <= HOSTS; i++) {
                String host = "h" + i;
                Sandbox sandbox = Sandbox.start(name, host, folder.resolve(host), caches);
                hosts.add(Host.of(machine(folder, host, i + 1, sandbox), accelerator));
                network.join(hosts.get(i - 1).machine());
            }
            return machine;
        });
        Lab lab = new Lab(name, site, hosts);
        steps.act("Open vSwitch: br-secure on each host, joined by a trunk", () -> {
            for (Host host : hosts) {
                host.ovs().start();
                host.ovs().addTrunk(Network.TRUNK_DEVICE);
            }
        });
        steps.act("libvirtd on each host", () -> {
            for (Host host : hosts) {
                host.libvirt().start(host.ovs());
            }
        });
        steps.act("Global Slurm: slurmctld, " + HOSTS + " slurmd, all idle", lab.slurm::start);
        return lab;
    }

    private static Machine found(LabHome home, LabName lab, String name, int number) throws IOException {
        Sandbox sandbox = Sandbox.find(lab, name)
                .orElseThrow(() -> new LabException(
                        "lab " + lab + ": machine " + name + " has no process any more", "lab/down, then lab/up"));
        return machine(home.folder(lab), name, number, sandbox);
    }

    private static Machine machine(Path folder, String name, int number, Sandbox sandbox) {
        return new Machine(name, NETWORK + number, folder.resolve(name), sandbox);
    }

    private static String hostsFile() {
        StringBuilder text = new StringBuilder("127.0.0.1 localhost\n" + NETWORK + "1 " + SITE + "\n");
        for (int i = 1; i <= HOSTS; i++) {
            text.append(NETWORK).append(i + 1).append(" h").append(i).append('\n');
        }
        return text.toString();
    }

    /** A lab that did not come up leaves its logs, and nothing else, beside where it was. */
    private static void keepLogs(LabHome home, LabName name) throws IOException {
        Path kept = home.cache("failed-" + name);
        LabHome.delete(kept);
        for (String machine : List.of(SITE, "h1", "h2")) {
            Path logs = home.folder(name).resolve(machine).resolve("log");
            if (Files.isDirectory(logs)) {
                Files.createDirectories(kept);
                Files.move(logs, kept.resolve(machine));
            }
        }
    }
}
