package org.cloister.lab.localslurm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.cloister.lab.LabMachine;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.Sandbox;

/**
 * A Slurm as administrators run it: static nodes, no part of Cloister. Users of the Local Slurm may set all that its
 * users may set.
 */
final class PlainSlurm {
    private static final int NODES = SlurmPairFixture.SHAPE.hosts();

    private PlainSlurm() {}

    static String text(ClusterSite site) {
        String nodes = IntStream.rangeClosed(1, NODES)
                .mapToObj(i -> "NodeName=p%d NodeAddr=%s CPUs=%d RealMemory=%d TmpDisk=%d State=UNKNOWN"
                        .formatted(
                                i,
                                NamespaceNodes.address(i),
                                SlurmPairFixture.SHAPE.cpus(),
                                SlurmPairFixture.SHAPE.memoryMib(),
                                SlurmPairFixture.SHAPE.scratchMib()))
                .collect(Collectors.joining("\n"));
        return """
                ClusterName=%1$s
                SlurmctldHost=%1$s(%2$s)
                SlurmUser=root
                SlurmdUser=root
                AuthType=auth/munge
                CredType=cred/munge
                StateSaveLocation=/var/spool/slurmctld
                SlurmdSpoolDir=/run/slurmd
                SlurmctldPidFile=/run/slurmctld.pid
                SlurmdPidFile=/run/slurmd.pid
                SlurmctldParameters=enable_configless
                PrologFlags=Alloc
                ProctrackType=proctrack/linuxproc
                TaskPlugin=task/none
                JobAcctGatherType=jobacct_gather/linux
                MpiDefault=none
                SelectType=select/cons_tres
                SelectTypeParameters=CR_Core_Memory
                DefMemPerCPU=1024
                GresTypes=gpu
                ReturnToService=2
                SchedulerType=sched/backfill
                SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0
                PriorityType=priority/multifactor
                PriorityWeightPartition=100000
                PriorityWeightQOS=100000
                PriorityWeightAge=1000
                AccountingStorageType=accounting_storage/slurmdbd
                AccountingStorageHost=127.0.0.1
                AccountingStorageEnforce=associations,limits,qos
                %3$s
                PartitionName=secure Nodes=ALL Default=YES MaxTime=527040 State=UP
                """.formatted(site.name(), ClusterSite.HEAD_ADDRESS, nodes);
    }

    static void startNodes(ClusterSite site) throws IOException {
        LabMachine head = site.head();
        NamespaceNodes spaces = new NamespaceNodes(site, head);
        List<ProgressLog.Action> starts = new ArrayList<>();
        for (int i = 1; i <= NODES; i++) {
            int number = i;
            starts.add(() -> {
                Sandbox machine = spaces.boot("p" + number);
                spaces.join(machine, number);
                spaces.serve(machine, number, SlurmPairFixture.SHAPE.scratchMib(), List.of());
            });
        }
        ParallelActions.run(starts);
        LabCluster cluster = site.cluster();
        cluster.await(NODES + " idle nodes", LabCluster.START_LIMIT, () -> cluster.nodes("idle") == NODES);
    }
}
