package org.cloister.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A cluster on this machine: a site with the Global Slurm and compute hosts, joined by a management network and by a
 * VLAN trunk between the hosts' bridges. No part of it is in the machine's own network, and all of it ends with the
 * processes that {@link Sandbox} finds; several labs run side by side under different names.
 */
public final class Lab {
    /** Changes when this build cannot use a lab of an older build. */
    private static final String VERSION = "1";

    /** Marker file of a lab whose cgroups must be removed with it. */
    private static final String CONFINED = "confined";

    private static final String SITE = "site";
    private static final int HOSTS = 2;
    /** Names of its machines. */
    public static final List<String> MACHINES = List.of(SITE, "h1", "h2");

    private static final String NETWORK = "192.168.140.";

    private final LabName name;
    private final LabMachine site;
    private final List<LabHost> hosts;
    private final LabGlobalSlurm slurm;

    private Lab(LabName name, LabMachine site, List<LabHost> hosts) {
        this.name = name;
        this.site = site;
        this.hosts = List.copyOf(hosts);
        this.slurm =
                new LabGlobalSlurm(site, hosts.stream().map(LabHost::machine).toList());
    }

    /** Starts a lab whose machines have this machine's release. */
    public static Lab up(LabHome home, LabName name, ProgressLog steps) throws IOException {
        return up(home, name, LabReleases.parse("", MACHINES, home), steps);
    }

    /** Starts a lab from nothing; a failure leaves nothing of it. */
    public static Lab up(LabHome home, LabName name, LabReleases releases, ProgressLog steps) throws IOException {
        Path folder = home.folder(name);
        if (Files.exists(folder) || !Sandbox.find(name).isEmpty()) {
            throw new LabException(
                    "lab " + name + ": there is one already in " + folder, "lab/status shows it, lab/down removes it");
        }
        boolean up = false;
        try {
            Lab lab = start(home, name, releases, steps);
            up = true;
            return lab;
        } finally {
            if (!up) {
                keepLogs(home, name);
                remove(home, name);
            }
        }
    }

    /** Returns the running lab of this name. */
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
        List<LabHost> hosts = new ArrayList<>();
        for (int i = 1; i <= HOSTS; i++) {
            hosts.add(LabHost.of(found(home, name, "h" + i, i + 1), LabAccelerator.of(folder)));
        }
        return new Lab(name, found(home, name, SITE, 1), hosts);
    }

    /** Removes every trace of a lab, in any state; a lab that does not exist is no error. */
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

    public List<LabHost> hosts() {
        return hosts;
    }

    /** @param number from 1 */
    public LabHost host(int number) {
        return hosts.get(number - 1);
    }

    public LabGlobalSlurm slurm() {
        return slurm;
    }

    /** Uses cgroups as {@link LabGlobalSlurm#useCgroups} does. */
    public void useCgroups() throws IOException {
        Files.writeString(site.folder().resolveSibling(CONFINED), "");
        slurm.useCgroups();
    }

    /** Returns a command on the site's machine, where both networks between the hosts can be observed. */
    public LabCommand onSite(String... argv) {
        return site.command(argv);
    }

    private static Lab start(LabHome home, LabName name, LabReleases releases, ProgressLog steps) throws IOException {
        Path folder = Files.createDirectories(home.folder(name));
        Files.writeString(folder.resolve("version"), VERSION + "\n");
        Files.writeString(folder.resolve("hosts"), hostsFile(), StandardCharsets.US_ASCII);
        LabAccelerator accelerator =
                steps.step("accelerator: does KVM run a guest?", () -> LabAccelerator.choose(folder));
        steps.remark("guests run on " + accelerator);
        List<LabHost> hosts = new ArrayList<>();
        LabMachine site = steps.step("namespaces and links", () -> {
            LabMachine machine =
                    machine(folder, SITE, 1, Sandbox.start(home, name, SITE, folder.resolve(SITE), releases.of(SITE)));
            LabNetwork network = LabNetwork.start(machine);
            for (int i = 1; i <= HOSTS; i++) {
                String host = "h" + i;
                Sandbox sandbox = Sandbox.start(home, name, host, folder.resolve(host), releases.of(host));
                hosts.add(LabHost.of(machine(folder, host, i + 1, sandbox), accelerator));
                network.join(hosts.get(i - 1).machine());
            }
            return machine;
        });
        Lab lab = new Lab(name, site, hosts);
        steps.runStep("Open vSwitch: br-secure on each host, joined by a trunk", () -> {
            for (LabHost host : hosts) {
                host.ovs().start();
                host.ovs().addTrunk(LabNetwork.TRUNK_DEVICE);
            }
        });
        steps.runStep("libvirtd on each host", () -> {
            for (LabHost host : hosts) {
                host.libvirt().start(host.ovs());
            }
        });
        steps.runStep("Global Slurm: slurmctld, " + HOSTS + " slurmd, all idle", lab.slurm::start);
        return lab;
    }

    private static LabMachine found(LabHome home, LabName lab, String name, int number) throws IOException {
        Sandbox sandbox = Sandbox.find(lab, name)
                .orElseThrow(() -> new LabException(
                        "lab " + lab + ": machine " + name + " has no process any more", "lab/down, then lab/up"));
        return machine(home.folder(lab), name, number, sandbox);
    }

    private static LabMachine machine(Path folder, String name, int number, Sandbox sandbox) {
        return new LabMachine(name, NETWORK + number, folder.resolve(name), sandbox);
    }

    private static String hostsFile() {
        StringBuilder text = new StringBuilder("127.0.0.1 localhost\n" + NETWORK + "1 " + SITE + "\n");
        for (int i = 1; i <= HOSTS; i++) {
            text.append(NETWORK).append(i + 1).append(" h").append(i).append('\n');
        }
        return text.toString();
    }

    /** Keeps the logs of a lab that did not start, and nothing else, beside its folder. */
    private static void keepLogs(LabHome home, LabName name) throws IOException {
        Path kept = home.cache("failed-" + name);
        LabHome.delete(kept);
        for (String machine : MACHINES) {
            Path logs = home.folder(name).resolve(machine).resolve("log");
            if (Files.isDirectory(logs)) {
                Files.createDirectories(kept);
                Files.move(logs, kept.resolve(machine));
            }
        }
    }
}
