package org.cloister.lab.booted;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.cloister.lab.Poll;
import org.cloister.lab.ProgressLog;

/**
 * The site's Slurm as its administrator sets it up before Cloister: Debian's units, munge, slurmdbd on MariaDB, control
 * groups of version 2 with limits. slurmctld runs on the relay's machine.
 */
public final class BootedSlurm {
    public static final String ACCOUNT = "climate";

    private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);

    private static final String CGROUPS = """
            CgroupPlugin=cgroup/v2
            ConstrainCores=yes
            ConstrainRAMSpace=yes
            """;

    private static final String DATABASE = """
            AuthType=auth/munge
            DbdHost=localhost
            SlurmUser=slurm
            StorageType=accounting_storage/mysql
            StorageHost=localhost
            StorageUser=slurm
            StoragePass=lab
            StorageLoc=slurm_acct_db
            LogFile=/var/log/slurm/slurmdbd.log
            PidFile=/run/slurmdbd.pid
            """;

    private final BootedMachine controller;
    private final List<BootedMachine> hosts;

    BootedSlurm(BootedMachine controller, List<BootedMachine> hosts) {
        this.controller = controller;
        this.hosts = List.copyOf(hosts);
    }

    /** Starts all of it; the nodes are idle when this returns. */
    public void start(ProgressLog steps) throws IOException {
        steps.runStep("Slurm: accounting", this::startAccounting);
        steps.runStep("Slurm: slurmctld, " + hosts.size() + " slurmd, all idle", () -> {
            configure(controller);
            controller.succeed(start("slurmctld"));
            for (BootedMachine host : hosts) {
                configure(host);
                host.succeed(start("munge", "slurmd"));
            }
            awaitIdle();
        });
    }

    private void awaitIdle() throws IOException {
        Poll.until(
                "idle nodes",
                IDLE_LIMIT,
                "lab/site run relay sinfo",
                Duration.ofSeconds(1),
                () -> controller
                                .command("sinfo -h -N -p controllers -t idle -o %N")
                                .run()
                                .out()
                                .lines()
                                .count()
                        == hosts.size());
    }

    private void startAccounting() throws IOException {
        controller.write("/etc/slurm/slurmdbd.conf", DATABASE);
        configure(controller);
        controller.succeed("""
                chown slurm: /etc/slurm/slurmdbd.conf && chmod 600 /etc/slurm/slurmdbd.conf
                %s
                mariadb -e "create database slurm_acct_db; create user slurm@localhost identified by 'lab';
                    grant all on slurm_acct_db.* to slurm@localhost"
                %s
                """.formatted(start("munge", "mariadb"), start("slurmdbd")));
        Poll.until(
                "slurmdbd",
                IDLE_LIMIT,
                "lab/site run relay cat /var/log/slurm/slurmdbd.log",
                Duration.ofSeconds(1),
                () -> controller.command("sacctmgr -n show cluster").run().exit() == 0);
        controller.succeed("sacctmgr -i add cluster global && sacctmgr -i add account " + ACCOUNT);
    }

    /** Returns the work of {@code systemctl enable --now} without System V's scripts, which take minutes here. */
    private static String start(String... units) {
        String all = String.join(" ", units);
        return "systemctl add-wants multi-user.target " + all + " && systemctl start " + all;
    }

    private void configure(BootedMachine machine) throws IOException {
        machine.write("/etc/slurm/slurm.conf", configuration());
        machine.write("/etc/slurm/cgroup.conf", CGROUPS);
    }

    private String configuration() {
        String names = hosts.stream().map(BootedMachine::name).collect(Collectors.joining(","));
        String nodes = hosts.stream()
                .map(host -> "NodeName=%s NodeAddr=%s CPUs=%d RealMemory=%d Weight=%d State=UNKNOWN"
                        .formatted(host.name(), host.address(), host.cpus(), host.memoryMib() * 3 / 4, host.number()))
                .collect(Collectors.joining("\n"));
        return """
                ClusterName=global
                SlurmctldHost=%s(%s)
                SlurmUser=slurm
                AuthType=auth/munge
                StateSaveLocation=/var/lib/slurm/slurmctld
                SlurmdSpoolDir=/var/lib/slurm/slurmd
                SlurmctldLogFile=/var/log/slurm/slurmctld.log
                SlurmdLogFile=/var/log/slurm/slurmd.log
                ProctrackType=proctrack/cgroup
                TaskPlugin=task/cgroup,task/affinity
                SelectType=select/cons_tres
                SelectTypeParameters=CR_Core_Memory
                AccountingStorageType=accounting_storage/slurmdbd
                AccountingStorageHost=localhost
                AccountingStorageEnforce=associations
                EnforcePartLimits=ALL
                PrivateData=accounts,jobs,usage,users
                KillWait=60
                UnkillableStepTimeout=120
                MpiDefault=none
                ReturnToService=2
                %s
                PartitionName=secure Nodes=%s Default=YES MaxTime=INFINITE State=UP
                PartitionName=controllers Nodes=%s MaxTime=INFINITE State=UP
                """.formatted(controller.name(), controller.address(), nodes, names, names);
    }
}
