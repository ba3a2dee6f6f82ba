package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Commands of an ordinary user, on a project's Local Slurm and on a plain cluster of the same shape: the same commands,
 * the same words and exit codes. A case is a script in {@code matrix/}, which says what it shows; what differs is in
 * docs/slurm.md.
 */
@Tag("scenario")
@Tag("slurm")
@ExtendWith(SharedLocalSlurm.class)
class UserCommandMatrixTest {
    private static final Path CASES = Path.of(System.getProperty("cloister.root"), "lab/src/test/resources/matrix");
    /** They wait for Slurm's own minutes, so they begin first. */
    private static final List<String> SLOW = List.of("requeue", "time-limit", "warned");
    /** Of each cluster; a plain one has four nodes, and a project as many hosts. */
    private static final int AT_ONCE = 5;

    private static final int QUOTA = 8;

    private final SlurmPairFixture stage;
    private ControllerProcess controller;

    UserCommandMatrixTest(SlurmPairFixture stage) {
        this.stage = stage;
    }

    @BeforeEach
    void start_with_a_qos_of_one_job() throws IOException {
        controller = stage.startController(QUOTA);
        for (LabCluster cluster : List.of(stage.local(), stage.plain())) {
            cluster.root().succeed("sacctmgr", "-i", "add", "qos", "single", "MaxJobsPerUser=1");
            cluster.root().succeed("sacctmgr", "-i", "modify", "user", "alice", "set", "qos+=single");
        }
    }

    @AfterEach
    void tearDown() throws IOException {
        stage.awaitNoTickets();
        controller.close();
    }

    @Test
    @RotatedScenario(9)
    void a_user_gets_the_answers_of_a_plain_cluster() throws Exception {
        ExecutorService local = Executors.newFixedThreadPool(AT_ONCE);
        ExecutorService plain = Executors.newFixedThreadPool(AT_ONCE);
        try {
            List<String> names = names();
            List<Future<UserCommandResult>> here = asks(local, stage.local(), names);
            List<Future<UserCommandResult>> there = asks(plain, stage.plain(), names);
            SoftAssertions all = new SoftAssertions();
            for (int i = 0; i < names.size(); i++) {
                UserCommandResult answer = here.get(i).get();
                UserCommandResult result = there.get(i).get();
                all.assertThat(answer.text()).as(names.get(i)).isEqualTo(result.text());
                all.assertThat(answer.exit()).as(names.get(i)).isEqualTo(result.exit());
            }
            all.assertAll();
        } finally {
            local.shutdownNow();
            plain.shutdownNow();
        }
    }

    private static List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(CASES)) {
            return files.map(file -> file.getFileName().toString().replace(".sh", ""))
                    .filter(name -> !name.equals("lib"))
                    .sorted(Comparator.comparing((String name) -> !SLOW.contains(name))
                            .thenComparing(Comparator.naturalOrder()))
                    .toList();
        }
    }

    private static List<Future<UserCommandResult>> asks(ExecutorService side, LabCluster cluster, List<String> names) {
        return names.stream()
                .map(name -> side.submit(() -> UserCommandResult.of(cluster, ClusterUser.ALICE, CASES, name)))
                .toList();
    }
}
