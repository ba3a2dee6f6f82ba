package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A worker starts a job once, whatever Slurm wants of it while no controller looks. */
@Tag("scenario")
@Tag("slurm")
@Timeout(300)
@ExtendWith(SharedLocalSlurm.class)
class SecondStartTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;

    SecondStartTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
    }

    @AfterEach
    void leave_no_job() throws IOException {
        alice.run("scancel", "--me");
    }

    @Test
    void a_requeued_job_does_not_start_on_the_worker_that_it_had_and_runs_on_another() throws IOException {
        try (ControllerProcess controller = stage.startController(4)) {
            long job = alice.submit(
                    "echo ran ${SLURM_RESTART_COUNT:-0} $(hostname); until [ -e enough ]; do sleep 0.1; done",
                    "--requeue",
                    "--mem-per-cpu=100",
                    "--open-mode=append",
                    "--output=starts-%j");
            local.await("its first start", LIMIT, () -> starts(job).size() == 1);
            String worker = local.root()
                    .succeed("squeue", "-h", "-j", Long.toString(job), "-o", "%N")
                    .strip();
            controller.kill();
            alice.succeed("scontrol", "requeue", Long.toString(job));
            // A begin that is changed before the job waits again is set anew by Slurm when it does.
            local.await("its wait", LIMIT, () -> waits(job).equals("PD|BeginTime|1|"));
            assertThat(local.root()
                            .succeed("sinfo", "-h", "-n", worker, "-o", "%T %E")
                            .strip())
                    .isEqualTo("drained Epilog error");
            alice.succeed("scontrol", "update", "jobid=" + job, "starttime=now");
            local.await(
                    "the scheduler's refusal",
                    LIMIT,
                    () -> waits(job).startsWith("PD|Nodes required for job are DOWN, DRAINED"));
            assertThat(starts(job)).containsExactly("ran 0 " + worker);
            controller.restart();
            local.await("its start elsewhere", LIMIT, () -> starts(job).size() == 2);
            assertThat(starts(job).get(1)).startsWith("ran 1 vm-").doesNotContain(worker);
            alice.succeed("touch", "enough");
            local.awaitState(Long.toString(job), "COMPLETED", LIMIT);
            stage.awaitNoTickets();
        } finally {
            alice.run("rm", "-f", "enough");
        }
    }

    private String waits(long job) throws IOException {
        return local.root()
                .succeed("squeue", "-h", "-j", Long.toString(job), "-O", "StateCompact:|,Reason:100|,RestartCnt:|")
                .replaceAll(" +\\|", "|")
                .strip();
    }

    private List<String> starts(long job) throws IOException {
        return alice.run("cat", "starts-" + job)
                .out()
                .lines()
                .filter(line -> line.startsWith("ran "))
                .toList();
    }
}
