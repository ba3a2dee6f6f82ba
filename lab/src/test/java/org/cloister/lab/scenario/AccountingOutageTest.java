package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
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

/** Jobs are submitted, run and end while slurmdbd is away, and are accounted for when it is back. */
@Tag("scenario")
@Tag("slurm")
@Timeout(300)
@ExtendWith(SharedLocalSlurm.class)
class AccountingOutageTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;

    AccountingOutageTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
    }

    @AfterEach
    void leave_no_job() throws IOException {
        alice.run("scancel", "--me");
    }

    @Test
    void jobs_go_on_without_it_and_are_in_sacct_with_their_last_words_afterwards() throws IOException {
        try (ControllerProcess controller = stage.startController(4)) {
            long before = alice.submit(
                    "touch began-$SLURM_JOB_ID; until [ -e without ]; do sleep 0.1; done",
                    "--mem-per-cpu=100",
                    "--output=/dev/null");
            local.await(
                    "the first line of " + before,
                    LIMIT,
                    () -> Files.exists(local.homes().resolve("alice/began-" + before)));
            local.killAccounting();
            long during;
            long failing;
            try {
                during = alice.submit("srun hostname", "--nodes=2", "--mem-per-cpu=100", "--output=/dev/null");
                failing = alice.submit("exit 3", "--mem-per-cpu=100", "--output=/dev/null");
                alice.succeed("touch", "without");
                awaitEnd(controller, before, "COMPLETED");
                awaitEnd(controller, during, "COMPLETED");
                awaitEnd(controller, failing, "FAILED");
                stage.awaitNoTickets();
                assertThat(alice.run("sacct", "-n", "-j", Long.toString(during)).exit())
                        .isNotZero();
            } finally {
                local.startAccounting();
                alice.run("rm", "-f", "without");
            }
            for (long job : List.of(before, during, failing)) {
                awaitAccounted(controller, job, job == failing ? "FAILED|3:0" : "COMPLETED|0:0");
            }
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

    /** Once, with all phases: the last one is known when the nodes have gone. */
    private void awaitAccounted(ControllerProcess controller, long job, String end) throws IOException {
        local.head().await("job " + job + " in sacct", controller.log(), LIMIT, () -> {
            List<String> lines = alice.succeed(
                            "sacct",
                            "-X",
                            "-n",
                            "-P",
                            "--duplicates",
                            "-j",
                            Long.toString(job),
                            "-o",
                            "State,ExitCode,AdminComment")
                    .lines()
                    .toList();
            return lines.size() == 1
                    && lines.get(0).startsWith(end + "|")
                    && lines.get(0).contains(" attempt=1 ")
                    && lines.get(0).contains(" teardown=");
        });
    }
}
