package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.lab.localslurm.WorkerFault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The controller as a process: ordinary users' jobs run to their ends on nodes of their own, also when it is killed. */
@Tag("scenario")
@Tag("slurm")
@Timeout(180)
@RotatedScenario(11)
@ExtendWith(SharedLocalSlurm.class)
class ControllerProgramTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String UNTIL_END_FILE = "touch began-$SLURM_JOB_ID; while [ ! -e end ]; do sleep 0.1; done";

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;

    ControllerProgramTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
    }

    @AfterEach
    void forget_faults() throws IOException {
        stage.workers().faults().clear();
        alice.run("rm", "-f", "end");
    }

    @Test
    void a_users_job_runs_on_nodes_of_its_own_which_go_with_it() throws IOException {
        try (ControllerProcess controller = stage.startController(16)) {
            long job = alice.submit("srun --label sh -c 'id -un; hostname'", "--nodes=2", "--output=out-%j");
            awaitEnd(controller, job, "COMPLETED");
            List<String> lines =
                    alice.succeed("cat", "out-" + job).lines().sorted().toList();
            assertThat(lines).hasSize(4).contains("0: alice", "1: alice");
            assertThat(lines).filteredOn(line -> line.contains("vm-")).hasSize(2);
            new JobTraces(stage, controller).awaitNone(LIMIT);
            local.await(
                    "its statement",
                    LIMIT,
                    () -> local.root()
                            .succeed("sacct", "-X", "-n", "-P", "-j", Long.toString(job), "-o", "AdminComment")
                            .matches("v=1 features=- ticket=[a-z2-7]{26} attempt=1 queue=.* teardown=[0-9.]+\n"));
        }
    }

    @Test
    void jobs_that_wait_and_run_while_it_is_killed_end_as_they_should() throws IOException {
        try (ControllerProcess controller = stage.startController(16)) {
            long running = alice.submit(UNTIL_END_FILE, "--output=/dev/null");
            local.await(
                    "its first line", LIMIT, () -> Files.exists(local.homes().resolve("alice/began-" + running)));
            stage.workers().faults().add(WorkerFault.late(Duration.ofSeconds(3)));
            long waiting = alice.submit(UNTIL_END_FILE, "--output=/dev/null");
            local.await("its ticket", LIMIT, () -> stage.workers().tickets().size() == 2);
            controller.kill();
            long unseen = alice.submit("true", "--output=/dev/null");
            assertThat(local.state(Long.toString(running))).isEqualTo("RUNNING");
            assertThat(local.state(Long.toString(waiting))).isEqualTo("PENDING");
            controller.restart();
            awaitEnd(controller, unseen, "COMPLETED");
            local.awaitState(Long.toString(waiting), "RUNNING", LIMIT);
            controller.kill();
            alice.succeed("touch", "end");
            awaitEnd(controller, running, "COMPLETED");
            awaitEnd(controller, waiting, "COMPLETED");
            controller.restart();
            new JobTraces(stage, controller).awaitNone(LIMIT);
            assertThat(alice.succeed(
                                    "sacct",
                                    "-X",
                                    "-n",
                                    "-P",
                                    "--duplicates",
                                    "-j",
                                    running + "," + waiting + "," + unseen,
                                    "-o",
                                    "JobIDRaw")
                            .lines())
                    .containsExactly(Long.toString(running), Long.toString(waiting), Long.toString(unseen));
        }
    }

    @Test
    void commands_reach_into_a_job_that_ran_before_slurmctld_did() throws IOException {
        try (ControllerProcess controller = stage.startController(16)) {
            long job = alice.submit(UNTIL_END_FILE, "--nodes=2", "--output=/dev/null");
            local.await(
                    "its first line", LIMIT, () -> Files.exists(local.homes().resolve("alice/began-" + job)));
            local.terminateController();
            local.startController();
            String[] step = {"--jobid=" + job, "--overlap", "--label", "id", "-un"};
            assertThat(alice.srun(step).out().lines()).containsExactlyInAnyOrder("0: alice", "1: alice");
            alice.succeed("touch", "end");
            awaitEnd(controller, job, "COMPLETED");
            new JobTraces(stage, controller).awaitNone(LIMIT);
        }
    }

    @Test
    void what_it_did_is_counted() throws IOException {
        Path metrics = local.folder().resolve("run/cloister-vm.prom");
        try (ControllerProcess controller = stage.startController(16)) {
            awaitEnd(controller, alice.submit("true", "--output=/dev/null"), "COMPLETED");
            local.await(
                    "its ticket in the metrics",
                    LIMIT,
                    () -> Files.readString(metrics).contains("cloister_vm_tickets_asked_total 1.0"));
            new JobTraces(stage, controller).awaitNone(LIMIT);
        }
    }

    private void awaitEnd(ControllerProcess controller, long job, String state) throws IOException {
        local.head()
                .await(
                        "job " + job + " " + state,
                        controller.log(),
                        LIMIT,
                        () -> local.state(Long.toString(job)).equals(state));
    }
}
