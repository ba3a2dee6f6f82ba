package org.cloister.vm.controller.slurm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.vm.controller.config.HostShape;

/**
 * The Local Slurm's slurm.conf. Workers get it from slurmctld ({@code slurmd -Z --conf-server}); it does not contain
 * their names.
 *
 * @param cluster its name in Slurm
 * @param host slurmctld's, as {@code hostname -s} prints it there
 * @param address at which workers reach slurmctld
 * @param state folder of slurmctld's state, on the project's drive
 * @param hooks folder of {@code prolog} and {@code epilog} on the workers; contains nothing that a user can write
 * @param notifyFile that slurmctld's account may write to; it gets a line at each job's end
 * @param accounting address of slurmdbd; without it, nothing is accounted and no limit of an account or QOS applies
 * @param shapes of the site's hosts; a job that fits none is refused at submission; there is one placeholder node for
 *     each of their hosts
 * @param memoryPerCpuMib of a job that requests no memory
 * @param maxJobTime limit of any job; a job that requests no limit gets it
 */
public record LocalSlurmConf(
        String cluster,
        String host,
        String address,
        Path state,
        Path hooks,
        Path notifyFile,
        Optional<String> accounting,
        List<HostShape> shapes,
        long memoryPerCpuMib,
        Duration maxJobTime) {
    /** The only partition, which is the default. */
    public static final String PARTITION = "secure";
    /** Account of slurmctld and slurmdbd: Debian's, with the same number in the image and on workers. */
    public static final String ACCOUNT = "slurm";
    /** Limit for all shapes together: the placeholder nodes' names have four digits. */
    public static final int MAX_HOSTS = 9999;

    private static final String COMMON = """
            ClusterName=%1$s
            SlurmctldHost=%2$s(%3$s)
            SlurmUser=%8$s
            SlurmdUser=root
            AuthType=auth/munge
            CredType=cred/munge
            StateSaveLocation=%4$s
            SlurmdSpoolDir=/run/slurmd
            SlurmctldPidFile=/run/slurmctld/slurmctld.pid
            SlurmdPidFile=/run/slurmd.pid
            # More connections than the filter's 1024 and members' 32 each: at its own 150 slurmctld takes no others.
            SlurmctldParameters=enable_configless,conmgr_max_connections=4096
            # From 25.11 on Slurm's ports answer HTTP requests without authentication; older releases ignore the word.
            CommunicationParameters=disable_http
            JobSubmitPlugins=lua
            Prolog=%5$s/prolog
            Epilog=%5$s/epilog
            # slurmctld's unit runs no program: a job's end notifies agent-vm by a line in a file, and no mail is sent.
            JobCompType=jobcomp/filetxt
            JobCompLoc=%9$s
            MailProg=/bin/true
            PrologFlags=Alloc
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            JobAcctGatherType=jobacct_gather/linux
            MpiDefault=none
            # As many processes as a worker's slurmd allows, whatever the submitting shell has.
            PropagateResourceLimitsExcept=NPROC
            SelectType=select/cons_tres
            SelectTypeParameters=CR_Core_Memory
            DefMemPerCPU=%6$d
            # Defined, so that job_submit.lua can refuse --gres=gpu with its own text.
            GresTypes=gpu
            # Nodes register without a line here, at any address.
            MaxNodeCount=%7$d
            # slurmctld itself sends to each node: no worker passes on what is for another job's. From 46341 on Slurm
            # 23.11 and newer may write beyond its memory.
            TreeWidth=%7$d
            # Slurm marks no node down because it does not respond: a worker continues without slurmctld for the time
            # of its lease, and returns when the project is reopened. agent-vm reports which workers have ended. Slurm
            # pings nodes that do not respond every 100 s.
            SlurmdTimeout=0
            # There is no second slurmctld to take over. An srun whose nodes are busy, as they are until a node that did
            # not respond has answered, asks again after this time and 0 to 9 s more; Slurm accepts no less than 60.
            SlurmctldTimeout=60
            # No placeholder node ever responds; if something does in its name, the node stays down.
            ReturnToService=0
            # Heterogeneous jobs start by backfill only; a start that the prolog refuses waits for another ticket, not
            # for a person.
            SchedulerType=sched/backfill
            SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,nohold_on_prolog_fail
            PriorityType=priority/multifactor
            # The same for all, so that --nice can lower it.
            PriorityWeightPartition=100000
            PriorityWeightQOS=100000
            PriorityWeightAge=1000
            """;

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,39}");
    private static final Pattern ADDRESS = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:-]{0,254}");
    private static final Pattern PATH = Pattern.compile("/[A-Za-z0-9_./-]{1,200}");
    private static final int MAX_WORKERS = 4096;

    /** @throws IllegalArgumentException if a value is out of range; the text names the value and the range */
    public LocalSlurmConf {
        shapes = List.copyOf(shapes);
        require("cluster", NAME, cluster);
        require("host", NAME, host);
        require("address", ADDRESS, address);
        require("state", PATH, state.toString());
        require("hooks", PATH, hooks.toString());
        require("bell", PATH, notifyFile.toString());
        accounting.ifPresent(value -> require("accounting", ADDRESS, value));
        if (shapes.isEmpty() || hosts(shapes) > MAX_HOSTS || memoryPerCpuMib < 1 || maxJobTime.toMinutes() < 1) {
            throw new IllegalArgumentException("slurm.conf: want a shape, at most " + MAX_HOSTS
                    + " hosts, 1 MiB of a CPU and 1 minute or more, have " + shapes.size() + ", " + hosts(shapes) + ", "
                    + memoryPerCpuMib + ", " + maxJobTime);
        }
    }

    public String text() {
        return common() + accountingText() + placeholderText();
    }

    /**
     * Returns the number of placeholder nodes. No job can request more nodes. The more there are, the more slurmctld
     * must report to slurmdbd when nodes appear and disappear, and it does nothing else meanwhile.
     */
    private static long hosts(List<HostShape> shapes) {
        return shapes.stream().mapToLong(HostShape::hosts).sum();
    }

    private static void require(String what, Pattern pattern, String value) {
        if (!pattern.matcher(value).matches()) {
            throw new IllegalArgumentException("slurm.conf: " + what + ": want " + pattern + ", have " + value);
        }
    }

    private String common() {
        return COMMON.formatted(
                cluster,
                host,
                address,
                state,
                hooks,
                memoryPerCpuMib,
                hosts(shapes) + MAX_WORKERS,
                ACCOUNT,
                notifyFile);
    }

    private String accountingText() {
        return accounting.map(where -> """
                        AccountingStorageType=accounting_storage/slurmdbd
                        AccountingStorageHost=%s
                        AccountingStorageEnforce=associations,limits,qos
                        """.formatted(where)).orElse("AccountingStorageType=accounting_storage/none\n");
    }

    private String placeholderText() {
        return """
                NodeName=%s[%04d-%04d] CPUs=%d RealMemory=%d TmpDisk=%d Feature=%s State=DOWN \
                Reason=waiting NodeAddr=127.0.0.1 Port=9
                PartitionName=%s Nodes=ALL Default=YES MaxTime=%d State=UP
                """.formatted(
                        LocalSlurm.PLACEHOLDER_PREFIX,
                        1,
                        hosts(shapes),
                        shapes.stream().mapToInt(HostShape::cpus).max().orElseThrow(),
                        shapes.stream().mapToLong(HostShape::memoryMib).max().orElseThrow(),
                        shapes.stream().mapToLong(HostShape::scratchMib).max().orElseThrow(),
                        LocalSlurm.UNPLACED,
                        PARTITION,
                        maxJobTime.toMinutes());
    }
}
