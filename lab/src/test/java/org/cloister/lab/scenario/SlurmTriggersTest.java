package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Sandbox;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Root of a worker, who speaks for any user to the Local Slurm, has slurmctld run a program when something happens
 * ({@code strigger}). It runs nothing as root; what its own account orders runs as that account.
 */
@Tag("scenario")
@Tag("slurm")
@Tag("boundary")
@Timeout(240)
@ExtendWith(SharedLocalSlurm.class)
class SlurmTriggersTest {
    /** slurmctld looks at its triggers every 15 s. */
    private static final Duration EVENT = Duration.ofSeconds(60);

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private ControllerProcess controller;
    private long job;
    private String node;
    private Sandbox worker;

    SlurmTriggersTest(SlurmPairFixture stage) throws IOException {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
    }

    @BeforeEach
    void a_worker_with_a_job() throws IOException {
        controller = stage.startController(4);
        job = alice.submit("sleep 600", "-t", "15", "-o", "/dev/null");
        local.awaitState(job, "RUNNING");
        node = local.root()
                .succeed("squeue", "-h", "-j", Long.toString(job), "-o", "%N")
                .strip();
        worker = stage.workers().machine(node);
    }

    @AfterEach
    void tearDown() throws IOException {
        local.root().run("strigger", "--clear", "--user=root", "--quiet");
        local.root().run("strigger", "--clear", "--user=slurm", "--quiet");
        local.head().command("sh", "-c", "rm -f /tmp/trigger-*").succeed();
        alice.run("scancel", "-u", "alice");
        stage.awaitNoTickets();
        controller.close();
    }

    @Test
    void a_node_that_goes_down_runs_nothing_as_root() throws IOException {
        // Of any node: slurmctld keeps a trigger for 5 minutes after its program, and may not start with one for a node
        // that it has no more.
        assertRunsNothingAsRoot(
                List.of("--node", "--down"),
                List.of("scontrol", "update", "nodename=" + node, "state=down", "reason=test"));
    }

    /** A new configuration is no event of slurmctld 24.11's. */
    @Test
    void a_jobs_end_runs_nothing_as_root() throws IOException {
        assertRunsNothingAsRoot(List.of("--jobid=" + job, "--fini"), List.of("scancel", Long.toString(job)));
    }

    /** Both are set before the event, which is there when one has run. */
    private void assertRunsNothingAsRoot(List<String> event, List<String> then) throws IOException {
        LabCommand.Output byRoot =
                worker.command(set(event, "/tmp/trigger-root")).run();
        List<String> asSlurm = new ArrayList<>(List.of("setpriv", "--reuid=slurm", "--regid=slurm", "--clear-groups"));
        asSlurm.addAll(set(event, "/tmp/trigger-slurm"));
        // On the head node itself: whatever of a worker is let through to slurmctld, its account may do this.
        LabCommand.Output bySlurm = local.head().command(asSlurm).run();
        local.root().succeed(then.toArray(String[]::new));
        local.await("a trigger's program", EVENT, () -> !ran().isEmpty());
        assertThat(ran()).as("%s; %s", byRoot, bySlurm).containsExactly("slurm /tmp/trigger-slurm");
        assertThat(byRoot.exit()).as("%s", byRoot).isNotZero();
    }

    private static List<String> set(List<String> event, String file) {
        List<String> argv = new ArrayList<>(List.of("strigger", "--set"));
        argv.addAll(event);
        argv.add("--program=/bin/touch " + file);
        return argv;
    }

    /** Whom the files of the triggers' programs belong to. */
    private List<String> ran() throws IOException {
        return local.head()
                .command("find", "/tmp", "-maxdepth", "1", "-name", "trigger-*", "-printf", "%u %p\\n")
                .succeed()
                .lines()
                .toList();
    }
}
