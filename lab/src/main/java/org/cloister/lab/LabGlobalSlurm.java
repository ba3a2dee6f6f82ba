package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The site's Slurm: slurmctld on the site's machine, a slurmd on each compute host, one munge realm. */
public final class LabGlobalSlurm {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    /** Ended jobs occupy their node for some time. */
    private static final Duration IDLE_LIMIT = Duration.ofSeconds(60);

    private static final Duration OVER_LIMIT = Duration.ofSeconds(60);
    /** Memory of a compute host that the lab offers to jobs; the guests on the host get their memory from it. */
    private static final int HOST_MEMORY_MIB = 8000;

    private final LabMachine site;
    private final List<LabMachine> hosts;
    private final LabSlurmAccounting accounting;
    private String storage = "AccountingStorageType=accounting_storage/none";
    private boolean confined;

    LabGlobalSlurm(LabMachine site, List<LabMachine> hosts) {
        this.site = site;
        this.hosts = List.copyOf(hosts);
        this.accounting = new LabSlurmAccounting(site, "global");
    }

    void start() throws IOException {
        requireNoNewerHost();
        Path key = LabMunge.writeKey(mungeKey());
        List<LabMachine> members = new ArrayList<>(hosts);
        members.add(0, site);
        configure();
        for (LabMachine machine : members) {
            LabMunge.start(machine, key);
        }
        machineDaemon(site, "slurmctld", "-c");
        for (LabMachine host : hosts) {
            machineDaemon(host, "slurmd");
        }
        awaitIdle();
    }

    /** Throws for a slurmd that is newer than slurmctld, with which Slurm does not talk. */
    private void requireNoNewerHost() throws IOException {
        String ours = version(site, "slurmctld");
        for (LabMachine host : hosts) {
            String theirs = version(host, "slurmd");
            if (theirs.compareTo(ours) > 0) {
                throw new LabException(
                        host.name() + ": slurmd " + theirs + " is newer than the site's slurmctld " + ours,
                        "give the site the newest release, such as --release site=sid,h1=trixie,h2=sid");
            }
        }
    }

    /** Returns a version such as {@code 24.11.5}: year and month have two digits each. */
    private static String version(LabMachine machine, String daemon) throws IOException {
        String answer = machine.command(daemon, "-V").succeed().strip();
        return answer.substring(answer.lastIndexOf(' ') + 1);
    }

    /** Returns the munge key of all its machines. */
    public Path mungeKey() throws IOException {
        return site.folder("etc/munge").resolve("munge.key");
    }

    /** Waits until every node is idle. */
    public void awaitIdle() throws IOException {
        site.await(
                "Global Slurm: " + hosts.size() + " idle nodes",
                site.log("slurmctld"),
                IDLE_LIMIT,
                () -> idleNodes() == hosts.size());
    }

    /**
     * Starts slurmdbd and MariaDB if the site has none yet, and adds accounts, each of which root may use; afterwards
     * slurmctld accepts only jobs with an account to charge.
     */
    public void account(String... accounts) throws IOException {
        boolean isAccounting = accounting.start();
        for (String account : accounts) {
            accounting.add(account, List.of("root"));
        }
        if (isAccounting) {
            terminateController();
            // A newer slurmctld has drawn the cluster's number for itself; with accounting slurmdbd draws it.
            Files.deleteIfExists(site.folder("var/spool/slurmctld").resolve("clustername"));
            storage = LabSlurmAccounting.CONFIGURATION;
            configure();
            startController();
            awaitIdle();
        }
    }

    /**
     * Moves steps into cgroups of version 1, with limits, as on a site. The kernel has one set of them, named by the
     * nodes, so only one lab at a time can use them.
     */
    void useCgroups() throws IOException {
        if (confined) {
            return;
        }
        // Jobs that were cancelled just before would run again after a kill.
        awaitIdle();
        terminateController();
        confined = true;
        configure();
        for (LabMachine host : hosts) {
            host.signal("slurmd", "KILL");
            machineDaemon(host, "slurmd");
        }
        startController();
        awaitIdle();
    }

    /** Returns all jobs of a name from accounting: number and state of each. */
    public List<String> jobs(String name) throws IOException {
        return client(
                        "sacct",
                        "-X",
                        "-n",
                        "-P",
                        "--duplicates",
                        "--starttime=now-1days",
                        "--format=JobIDRaw,State",
                        "--name=" + name)
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
    }

    /** Returns the same when accounting has at least {@code count} of them and the end of all. */
    public List<String> awaitOver(String name, int count) throws IOException {
        List<List<String>> last = new ArrayList<>();
        Poll.until("accounting's end of " + count + " jobs of " + name, OVER_LIMIT, "read slurmdbd's log", () -> {
            last.add(0, jobs(name));
            return last.get(0).size() >= count
                    && last.get(0).stream().noneMatch(line -> line.endsWith("|RUNNING") || line.endsWith("|PENDING"));
        });
        return last.get(0);
    }

    /** Returns every row of accounting's tables, as text. */
    public String accountingRows() throws IOException {
        return accounting.dump();
    }

    /** Stops slurmctld in an orderly way: it saves its state. */
    public void terminateController() throws IOException {
        site.signal("slurmctld", "TERM");
    }

    /**
     * Kills slurmctld with kill -9: jobs of its last seconds (5 by Slurm's own saving) may be lost, even running ones.
     */
    public void killController() throws IOException {
        site.signal("slurmctld", "KILL");
    }

    /** Suspends slurmctld: it accepts connections and answers nothing, as a controller under heavy load. */
    public void stopController() throws IOException {
        site.signal("slurmctld", "STOP");
    }

    public void continueController() throws IOException {
        site.signal("slurmctld", "CONT");
    }

    public void startController() throws IOException {
        machineDaemon(site, "slurmctld");
        site.await(
                "Global Slurm: slurmctld",
                site.log("slurmctld"),
                START_LIMIT,
                () -> site.command("scontrol", "ping").run().out().contains(" UP"));
    }

    public void killSlurmd(String host) throws IOException {
        machine(host).signal("slurmd", "KILL");
    }

    public void startSlurmd(String host) throws IOException {
        machineDaemon(machine(host), "slurmd");
    }

    /**
     * Returns the site's commands for processes outside the lab; sbatch behaves as {@link SlurmCommandWrappers#sbatch}
     * sets.
     */
    public SlurmCommandWrappers programs() throws IOException {
        return SlurmCommandWrappers.install(site);
    }

    /** Returns the folders in which slurmctld and slurmdbd keep their state and all of Slurm's daemons their logs. */
    public List<Path> folders() throws IOException {
        List<Path> folders = new ArrayList<>(List.of(site.folder("var/spool"), site.folder("log")));
        for (LabMachine host : hosts) {
            folders.addAll(List.of(host.folder("var/spool"), host.folder("log")));
        }
        return folders;
    }

    private LabMachine machine(String host) {
        return hosts.stream()
                .filter(machine -> machine.name().equals(host))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("host: no " + host + " in this lab"));
    }

    private void configure() throws IOException {
        List<LabMachine> members = new ArrayList<>(hosts);
        members.add(site);
        for (LabMachine machine : members) {
            Path etc = machine.folder("etc/slurm");
            Files.writeString(etc.resolve("slurm.conf"), configuration());
            Files.writeString(etc.resolve("cgroup.conf"), confined ? StepCgroups.LIMITS : StepCgroups.NONE);
        }
    }

    public int idleNodes() throws IOException {
        LabCommand.Output output =
                site.command("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").run();
        // One line for each partition that a node is in.
        return output.exit() == 0 ? (int) output.out().lines().distinct().count() : 0;
    }

    /** Runs a client command (sinfo, sbatch, ...) on the site's machine. */
    public String client(String... argv) throws IOException {
        return site.command(argv).succeed();
    }

    private void machineDaemon(LabMachine machine, String name, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(name));
        argv.addAll(List.of(arguments));
        Path log = machine.log(name);
        machine.folder("var/spool/" + name);
        argv.addAll(List.of("-L", log.toString()));
        machine.command(argv).succeed();
    }

    private String configuration() {
        String nodes = hosts.stream()
                .map(host -> "NodeName=%s NodeAddr=%s CPUs=%d RealMemory=%d State=UNKNOWN"
                        .formatted(
                                host.name(),
                                host.address(),
                                Runtime.getRuntime().availableProcessors(),
                                HOST_MEMORY_MIB))
                .collect(Collectors.joining("\n"));
        return """
                ClusterName=global
                SlurmctldHost=%s(%s)
                SlurmUser=root
                SlurmdUser=root
                AuthType=auth/munge
                CredType=cred/munge
                StateSaveLocation=/var/spool/slurmctld
                SlurmdSpoolDir=/var/spool/slurmd
                SlurmctldPidFile=/run/slurmctld.pid
                SlurmdPidFile=/run/slurmd.pid
                SlurmdParameters=config_overrides
                %s
                SelectType=select/cons_tres
                SelectTypeParameters=CR_Core_Memory
                %s
                MpiDefault=none
                ReturnToService=2
                SchedulerParameters=sched_interval=5,batch_sched_delay=0
                %s
                PartitionName=secure Nodes=ALL Default=YES MaxTime=INFINITE State=UP
                PartitionName=controllers Nodes=ALL MaxTime=INFINITE State=UP
                """.formatted(
                site.name(), site.address(), confined ? StepCgroups.PLUGINS : StepCgroups.NO_PLUGINS, storage, nodes);
    }
}
