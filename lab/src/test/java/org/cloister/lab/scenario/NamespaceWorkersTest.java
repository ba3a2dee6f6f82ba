package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.cloister.lab.LabCommand;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.NamespaceWorkers;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.lab.localslurm.WorkerFault;
import org.cloister.lab.localslurm.WorkerSite;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.controller.tickets.WorkerAllocatorContract;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeGone;
import org.cloister.vm.controller.tickets.WorkerEvent.NodeReady;
import org.cloister.vm.controller.tickets.WorkerEvent.Refused;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Workers that are namespaces keep what holds for all workers; their nodes join the Local Slurm; what is to go wrong does. */
@Tag("scenario")
@Tag("slurm")
@Timeout(120)
@ExtendWith(SharedLocalSlurm.class)
class NamespaceWorkersTest extends WorkerAllocatorContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final SlurmPairFixture stage;
    private final WorkerSite site;

    NamespaceWorkersTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.site = stage.workers();
    }

    @Override
    protected WorkerAllocator open() throws IOException {
        return site.openWorkers();
    }

    @Override
    protected void kill(WorkerAllocator allocator) throws IOException {
        ((NamespaceWorkers) allocator).close();
    }

    @Override
    protected int hosts() {
        return SlurmPairFixture.SHAPE.hosts();
    }

    @Override
    protected boolean runs(String node) throws IOException {
        return site.nodes().contains(node);
    }

    @Override
    protected void lose(String node) throws IOException {
        site.faults().killVm(node);
    }

    @AfterEach
    void forget_nodes_and_faults() throws IOException {
        site.faults().clear();
        for (String node : stage.local()
                .root()
                .succeed("sinfo", "-h", "-N", "-o", "%N")
                .lines()
                .toList()) {
            if (!node.startsWith(LocalSlurm.PLACEHOLDER_PREFIX)) {
                stage.local().root().succeed("scontrol", "delete", "nodename=" + node);
            }
        }
    }

    @Test
    void a_node_has_what_was_asked_and_runs_a_job_of_its_tickets_feature() throws Exception {
        String ticket = ask(1, false);
        String node = awaitNodes(ticket, 1).get(0);
        LabCluster local = stage.local();
        local.await("an idle node", LIMIT, () -> local.nodes("idle") == 1);
        String output = local.root().succeed("scontrol", "show", "node", node);
        assertThat(output).contains("CPUTot=1 ", "RealMemory=100 ", "ActiveFeatures=" + LocalSlurm.feature(ticket));
        long job = local.as(ClusterUser.ALICE).submit("id -un; hostname", "--output=out-%j", "--mem=100");
        local.root().succeed("scontrol", "update", "jobid=" + job, "features=" + LocalSlurm.feature(ticket));
        local.awaitState(job, "COMPLETED");
        assertThat(local.as(ClusterUser.ALICE).succeed("cat", "out-" + job).lines())
                .containsExactly("alice", node);
    }

    @Test
    void one_that_dies_while_it_boots_is_told_of_and_not_begun_again() throws Exception {
        site.faults().add(WorkerFault.diesBooting(1));
        String ticket = ask(2, false);
        await("slot 1 has gone", event -> event instanceof NodeGone gone && gone.slot() == 1);
        awaitNodes(ticket, 1);
        assertThat(heard()).noneMatch(event -> event instanceof NodeReady ready && ready.slot() == 1);
        assertThat(site.nodes()).hasSize(1);
    }

    @Test
    void one_that_is_late_can_be_withdrawn_before_it_boots() throws Exception {
        site.faults().add(WorkerFault.late(Duration.ofMinutes(10)));
        String ticket = ask(1, false);
        await("allocated", WorkerEvent.Allocated.class::isInstance);
        assertThat(site.nodes()).isEmpty();
        workers().withdrawTicket(ticket);
        awaitEnd(ticket);
    }

    @Test
    void one_that_is_to_be_refused_is_refused_with_its_reason() throws Exception {
        WorkerEvent.EndReason failure =
                new WorkerEvent.EndReason(WorkerPhase.QUEUE, "quota", "16 of 16 CPUs are used", "wait", true);
        site.faults().add(WorkerFault.refused(failure));
        String ticket = ask(1, false);
        await("refused", event -> event.equals(new Refused(ticket, failure)));
    }

    @Test
    void a_killed_slurmd_leaves_its_vm() throws Exception {
        String ticket = ask(1, false);
        String node = awaitNodes(ticket, 1).get(0);
        site.faults().killSlurmd(node);
        assertThat(runs(node)).isTrue();
        LabCommand.Output ping = stage.local().root().run("scontrol", "ping");
        assertThat(ping.out()).contains("UP");
        assertThat(heard()).noneMatch(NodeGone.class::isInstance);
    }
}
