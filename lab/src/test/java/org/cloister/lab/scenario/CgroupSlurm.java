package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabMachine;
import org.cloister.lab.LabMunge;
import org.cloister.lab.LabName;
import org.cloister.lab.Poll;
import org.cloister.lab.Sandbox;
import org.cloister.lab.StepCgroups;

/**
 * A Slurm of one machine that keeps its steps in cgroups of version 1, with limits, as a site would. Its node has a name of its
 * own, for all machines of a lab share the kernel's cgroups.
 */
final class CgroupSlurm implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final LabHome home;
    private final LabName name;
    private final LabMachine machine;
    private final String node;

    private CgroupSlurm(LabHome home, LabName name, LabMachine machine, String node) {
        this.home = home;
        this.name = name;
        this.machine = machine;
        this.node = node;
    }

    static CgroupSlurm start() throws IOException {
        LabHome home = LabHome.fromEnvironment();
        LabName name = TestLabs.name(home, "step-");
        Path folder = Files.createDirectories(home.folder(name));
        Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost step\n");
        LabMachine machine = new LabMachine(
                "step",
                "127.0.0.1",
                folder.resolve("step"),
                Sandbox.start(home, name, "step", folder.resolve("step"), TestLabs.release(home)));
        CgroupSlurm slurm = new CgroupSlurm(
                home, name, machine, "c" + ProcessHandle.current().pid());
        boolean up = false;
        try {
            slurm.up();
            up = true;
            return slurm;
        } finally {
            if (!up) {
                slurm.close();
            }
        }
    }

    private void up() throws IOException {
        // With loopback alone getaddrinfo finds no address, and Slurm does not start.
        for (String link : List.of("link add lan type bridge", "link set lan up", "address add 10.91.0.1/24 dev lan")) {
            machine.command(("ip " + link).split(" ", -1)).succeed();
        }
        LabMunge.start(machine, LabMunge.writeKey(machine.folder("etc/munge").resolve("munge.key")));
        Path etc = machine.folder("etc/slurm");
        Files.writeString(etc.resolve("slurm.conf"), configuration());
        Files.writeString(etc.resolve("cgroup.conf"), StepCgroups.LIMITS);
        Path prolog = Files.writeString(etc.resolve("prolog"), "#!/bin/sh\n[ ! -e /etc/slurm/prolog-fails ]\n");
        Files.setPosixFilePermissions(prolog, PosixFilePermissions.fromString("rwxr-xr-x"));
        machine.folder("var/spool/slurmctld");
        machine.command("slurmctld", "-c", "-L", machine.log("slurmctld").toString())
                .succeed();
        machine.command("slurmd", "-N", node, "-L", machine.log("slurmd").toString())
                .succeed();
        machine.await(
                "an idle node",
                machine.log("slurmd"),
                LIMIT,
                () -> machine.command("sinfo", "-h", "-t", "idle", "-o", "%N")
                        .run()
                        .out()
                        .strip()
                        .equals(node));
    }

    LabMachine machine() {
        return machine;
    }

    String node() {
        return node;
    }

    /** Has the node's prolog fail from now on, upon which slurmctld drains the node by itself; or succeed again. */
    void prologFails(boolean fails) throws IOException {
        Path mark = machine.folder("etc/slurm").resolve("prolog-fails");
        if (fails) {
            Files.writeString(mark, "");
        } else {
            Files.deleteIfExists(mark);
        }
    }

    /** Submits a job whose one step sleeps, on one CPU. @return its number */
    long submit(String ticket, int memoryMib) throws IOException {
        return Long.parseLong(machine.command(
                        "sbatch",
                        "--parsable",
                        "--job-name=" + ticket,
                        "--chdir=/",
                        "--output=/dev/null",
                        "--ntasks=1",
                        "--mem=" + memoryMib,
                        "--wrap=srun sleep 600")
                .succeed()
                .strip());
    }

    /** The process of a job's step, as it is named outside of the machine. */
    long task(long job) throws IOException {
        Path procs =
                Path.of("/sys/fs/cgroup/memory/slurm_" + node + "/uid_0/job_" + job + "/step_0/task_0/cgroup.procs");
        machine.await(
                "a task of job " + job,
                machine.log("slurmd"),
                LIMIT,
                () -> Files.exists(procs) && !Files.readString(procs).isBlank());
        return Long.parseLong(Files.readAllLines(procs).get(0));
    }

    void cancel(long job) throws IOException {
        machine.command("scancel", Long.toString(job)).succeed();
    }

    void awaitEnd(long pid) throws IOException {
        Poll.until(
                "the end of process " + pid,
                LIMIT,
                "read " + machine.log("slurmd"),
                () -> ProcessHandle.of(pid).isEmpty());
    }

    private String configuration() {
        return """
                ClusterName=step
                SlurmctldHost=step(127.0.0.1)
                SlurmUser=root
                SlurmdUser=root
                AuthType=auth/munge
                CredType=cred/munge
                StateSaveLocation=/var/spool/slurmctld
                SlurmdSpoolDir=/var/spool/slurmd
                SlurmctldPidFile=/run/slurmctld.pid
                SlurmdPidFile=/run/slurmd.pid
                ProctrackType=proctrack/cgroup
                TaskPlugin=task/cgroup,task/affinity
                SelectType=select/cons_tres
                SelectTypeParameters=CR_Core_Memory
                JobAcctGatherType=jobacct_gather/cgroup
                AccountingStorageType=accounting_storage/none
                MpiDefault=none
                ReturnToService=2
                KillWait=2
                PrivateData=jobs
                Prolog=/etc/slurm/prolog
                NodeName=%s NodeHostname=step NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
                PartitionName=secure Nodes=ALL Default=YES MaxTime=INFINITE State=UP
                """.formatted(node);
    }

    /** The cgroups of slurmd would stay: no namespace holds them. */
    @Override
    public void close() throws IOException {
        Lab.remove(home, name);
        StepCgroups.remove(node);
    }
}
