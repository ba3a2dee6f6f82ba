package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.cloister.lab.LabCommand;
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

/** The time limit of a running job. */
@Tag("scenario")
@Tag("slurm")
@Timeout(240)
@ExtendWith(SharedLocalSlurm.class)
@SuppressWarnings("try") // a controller is only there to be used by the jobs
class RaisedLimitTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final SlurmPairFixture stage;

    RaisedLimitTest(SlurmPairFixture stage) {
        this.stage = stage;
    }

    @AfterEach
    void leave_no_job() throws IOException {
        stage.local().as(ClusterUser.ALICE).run("scancel", "--me");
    }

    @Test
    void its_owner_lowers_it_and_does_not_raise_it_as_on_a_plain_cluster() throws IOException {
        try (ControllerProcess controller = stage.startController(4)) {
            for (LabCluster cluster : new LabCluster[] {stage.plain(), stage.local()}) {
                ClusterLogin alice = cluster.as(ClusterUser.ALICE);
                long job = running(cluster);
                LabCommand.Output raised = alice.run("scontrol", "update", "jobid=" + job, "timelimit=20");
                assertThat(raised.exit()).isEqualTo(1);
                assertThat(raised.err()).contains("Access/permission denied for job " + job);
                assertThat(limit(cluster, job)).isEqualTo("10:00");
                alice.succeed("scontrol", "update", "jobid=" + job, "timelimit=5");
                assertThat(limit(cluster, job)).isEqualTo("5:00");
                alice.succeed("scancel", Long.toString(job));
            }
            stage.awaitNoTickets();
        }
    }

    @Test
    void an_administrator_raises_it_and_the_job_is_told_when_its_nodes_end() throws IOException {
        try (ControllerProcess controller = stage.startController(4)) {
            LabCluster local = stage.local();
            long job = running(local);
            local.root().succeed("scontrol", "update", "jobid=" + job, "timelimit=20");
            assertThat(limit(local, job)).isEqualTo("20:00");
            local.await(
                    "the status of " + job,
                    LIMIT,
                    () -> local.as(ClusterUser.BOB)
                            .run("cat", "/run/cloister/jobs/" + job + ".json")
                            .out()
                            .contains("time limit: 20 minutes, but the job's nodes were requested for 10 minutes"));
            local.root().succeed("scontrol", "update", "jobid=" + job, "timelimit=10");
            local.await(
                    "no status of " + job,
                    LIMIT,
                    () -> local.root()
                                    .run("ls", "/run/cloister/jobs/" + job + ".json")
                                    .exit()
                            != 0);
            local.as(ClusterUser.ALICE).succeed("scancel", Long.toString(job));
            stage.awaitNoTickets();
        }
    }

    private static long running(LabCluster cluster) throws IOException {
        long job = cluster.as(ClusterUser.ALICE)
                .submit("exec sleep 600", "--time=10", "--mem-per-cpu=100", "--output=/dev/null");
        cluster.awaitState(Long.toString(job), "RUNNING", LIMIT);
        return job;
    }

    private static String limit(LabCluster cluster, long job) throws IOException {
        return cluster.root()
                .succeed("squeue", "-h", "-j", Long.toString(job), "-o", "%l")
                .strip();
    }
}
