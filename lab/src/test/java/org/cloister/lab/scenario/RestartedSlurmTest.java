package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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

/** Jobs on nodes that joined at run time go on when slurmctld is killed and started again. */
@Tag("scenario")
@Tag("slurm")
@Timeout(240)
@ExtendWith(SharedLocalSlurm.class)
class RestartedSlurmTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** MinJobAge, and what agent-vm and a machine that is busy may take after that. */
    private static final Duration FORGOTTEN = Duration.ofMinutes(8);

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private ControllerProcess controller;

    RestartedSlurmTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
    }

    @BeforeEach
    void start() throws IOException {
        controller = stage.startController(4);
    }

    @AfterEach
    void tearDown() throws IOException {
        try {
            alice.run("scancel", "--me");
            stage.awaitNoTickets();
        } finally {
            controller.close();
        }
    }

    @Test
    void steps_of_a_job_on_two_nodes_go_on() throws IOException {
        long job = alice.submit(stepsAroundARestart("--label"), "--nodes=2", "--mem-per-cpu=100", "--output=steps-%j");
        restart(job);
        local.awaitState(Long.toString(job), "COMPLETED", LIMIT);
        assertThat(output(job, "before")).hasSize(2).isEqualTo(output(job, "after"));
        assertThat(output(job, "after").get(0)).startsWith("0: vm-");
    }

    @Test
    void steps_over_both_components_of_a_heterogeneous_job_go_on() throws IOException {
        String line = stepsAroundARestart("--het-group=0,1 --label");
        String submitted = alice.succeed(
                        "sbatch",
                        "--parsable",
                        "--output=steps-%j",
                        "--ntasks=1",
                        "--mem-per-cpu=100",
                        ":",
                        "--nodes=2",
                        // Without it srun of 24.11 starts one task in this component, on a plain cluster, too.
                        "--ntasks=2",
                        "--ntasks-per-node=1",
                        "--mem-per-cpu=100",
                        "--wrap=" + line)
                .strip();
        long job = Long.parseLong(submitted);
        restart(job);
        for (String component : List.of("+0", "+1")) {
            local.await(
                    "job " + job + component + " COMPLETED",
                    LIMIT,
                    () -> local.root()
                            .succeed("scontrol", "-o", "show", "job", job + component)
                            .contains("JobState=COMPLETED"));
        }
        assertThat(output(job, "before")).hasSize(3).isEqualTo(output(job, "after"));
        assertThat(output(job, "after").get(2)).startsWith("2: vm-");
    }

    /** The real slurmctld overwrites what accounting has; see "AdminComment" in docs/slurm.md. */
    @Test
    @RotatedScenario(9)
    @Timeout(600)
    void a_statement_is_made_again_when_slurmctld_has_forgotten_the_job() throws IOException {
        long over = alice.submit("true", "--output=/dev/null");
        local.await("its statement", LIMIT, () -> account(over).contains(" teardown="));
        String stated = account(over);
        long running = alice.submit("until [ -e end-$SLURM_JOB_ID ]; do sleep 0.1; done", "--output=/dev/null");
        awaitKept(running);
        local.killController();
        local.startController();
        local.await("what slurmctld has itself", LIMIT, () -> !account(over).contains(" teardown="));
        alice.succeed("touch", "end-" + running);
        local.await("its statement again", FORGOTTEN, () -> account(over).equals(stated));
    }

    /**
     * slurmctld restarts with the job as saved while its node completed, and with that node down. Without the node, a
     * second restart has the job COMPLETING for good.
     */
    @Test
    void a_waiting_job_that_names_a_node_after_a_restart_keeps_it_until_it_runs_on_another() throws IOException {
        long job = alice.submit(
                "[ $SLURM_RESTART_COUNT ] || trap '' TERM; touch began-$SLURM_JOB_ID; while sleep 1; do true; done",
                "--requeue",
                "--output=/dev/null");
        awaitBegun(job);
        String node = show(job, "%N");
        alice.succeed("scontrol", "requeuehold", Long.toString(job));
        Path state = local.head().folder("var/spool/slurmctld").resolve("job_state");
        awaitKept(alice.submit("true", "--hold", "--output=/dev/null"));
        assertThat(show(job, "%T %N")).isEqualTo("COMPLETING " + node);
        byte[] completing = Files.readAllBytes(state);
        local.root().succeed("scontrol", "update", "nodename=" + node, "state=down", "reason=test");
        awaitKept(job);
        assertThat(show(job, "%T %N")).isEqualTo("PENDING ");
        local.killController();
        Files.write(state, completing);
        local.startController();
        assertThat(show(job, "%T %N")).isEqualTo("PENDING " + node);
        long other = alice.submit("true", "--output=/dev/null");
        local.awaitState(Long.toString(other), "COMPLETED", LIMIT);
        String otherNode = show(other, "%N");
        local.await("the end of another node's rest", LIMIT, () -> !nodes().contains(otherNode));
        assertThat(nodes()).contains(node);
        awaitKept(job);
        local.killController();
        local.startController();
        assertThat(show(job, "%T %N")).isEqualTo("PENDING " + node);
        alice.succeed("scontrol", "release", Long.toString(job));
        local.awaitState(Long.toString(job), "RUNNING", LIMIT);
        assertThat(show(job, "%N")).isNotEqualTo(node);
        local.await("the old node's deletion", LIMIT, () -> !nodes().contains(node));
        local.killController();
        local.startController();
        assertThat(show(job, "%T")).isEqualTo("RUNNING");
    }

    private List<String> nodes() throws IOException {
        return local.root().succeed("sinfo", "-h", "-N", "-o", "%N").lines().toList();
    }

    private String show(long job, String format) throws IOException {
        return local.root()
                .succeed("squeue", "-h", "-t", "all", "-j", Long.toString(job), "-o", format)
                .replace("\n", "");
    }

    private String account(long job) throws IOException {
        return local.root().succeed("sacct", "-n", "-X", "-P", "-j", Long.toString(job), "-o", "State,AdminComment");
    }

    /** A step, then none before there is a file, then the same step. */
    private static String stepsAroundARestart(String options) {
        return """
                srun %1$s sh -c 'echo before $(hostname)'
                touch began-$SLURM_JOB_ID
                until [ -e again-$SLURM_JOB_ID ]; do sleep 0.1; done
                srun %1$s sh -c 'echo after $(hostname)'
                """.formatted(options);
    }

    private void restart(long job) throws IOException {
        awaitBegun(job);
        awaitKept(job);
        local.killController();
        local.startController();
        alice.succeed("touch", "again-" + job);
    }

    /** A job is RUNNING for slurmctld before its script has run a line. */
    private void awaitBegun(long job) throws IOException {
        Path home = local.homes().resolve("alice");
        local.await("the job's first lines", LIMIT, () -> Files.exists(home.resolve("began-" + job)));
    }

    /** slurmctld writes jobs and nodes down some seconds late; what it had not is lost on a plain cluster too. */
    private void awaitKept(long job) throws IOException {
        FileTime startTime = FileTime.from(Instant.now());
        alice.succeed("scontrol", "update", "jobid=" + job, "comment=kept");
        for (String node : stage.workers().nodes()) {
            local.root().succeed("scontrol", "update", "nodename=" + node, "comment=kept");
        }
        Path state = local.head().folder("var/spool/slurmctld");
        for (String file : List.of("job_state", "node_state")) {
            local.await(
                    "slurmctld's " + file,
                    LIMIT,
                    () -> Files.exists(state.resolve(file))
                            && Files.getLastModifiedTime(state.resolve(file)).compareTo(startTime) > 0);
        }
    }

    /** Label and node of each task, in order. */
    private List<String> output(long job, String when) throws IOException {
        return alice.succeed("cat", "steps-" + job)
                .lines()
                .filter(line -> line.contains(when + " "))
                .map(line -> line.replace(when + " ", ""))
                .sorted()
                .toList();
    }
}
