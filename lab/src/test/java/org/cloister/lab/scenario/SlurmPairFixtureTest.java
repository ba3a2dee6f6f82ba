package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A Local Slurm and a plain one of the same shape, with ordinary users, whose daemons can be killed. */
@Tag("scenario")
@Tag("slurm")
@Timeout(180)
@RotatedScenario(9)
@ExtendWith(SharedLocalSlurm.class)
class SlurmPairFixtureTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void both_clusters_have_the_same_ordinary_users(SlurmPairFixture stage) throws IOException {
        for (LabCluster cluster : List.of(stage.local(), stage.plain())) {
            assertThat(cluster.as(ClusterUser.ALICE).succeed("id", "-un").strip())
                    .isEqualTo("alice");
            assertThat(cluster.as(ClusterUser.ALICE).succeed("pwd").strip()).isEqualTo("/home/alice");
            assertThat(cluster.as(ClusterUser.BOB)
                            .succeed("id", "-u", "-n", "alice")
                            .strip())
                    .isEqualTo("alice");
            assertThat(cluster.as(ClusterUser.BOB).run("ls", "/home/alice").exit())
                    .isNotZero();
            assertThat(cluster.as(ClusterUser.BOB).run("cat", "/etc/shadow").exit())
                    .isNotZero();
        }
        assertThat(Files.readString(Path.of("/etc/passwd"))).doesNotContain("alice:");
    }

    @Test
    void a_plain_job_runs_as_its_user_and_is_accounted(SlurmPairFixture stage) throws IOException {
        LabCluster plain = stage.plain();
        long job = plain.as(ClusterUser.ALICE).submit("id -un; hostname", "--output=out-%j", "--nodes=2");
        plain.awaitState(job, "COMPLETED");
        assertThat(Files.readString(plain.homes().resolve("alice/out-" + job)).lines())
                .first()
                .isEqualTo("alice");
        plain.await(
                "accounting's end of " + job,
                LIMIT,
                () -> plain.as(ClusterUser.BOB)
                        .succeed("sacct", "-X", "-n", "-P", "--allusers", "-j", Long.toString(job), "-o", "User,State")
                        .contains("alice|COMPLETED"));
        assertThat(plain.as(ClusterUser.ALICE)
                        .srun("--nodes=2", "--label", "hostname")
                        .out()
                        .lines())
                .containsExactlyInAnyOrder("0: p1", "1: p2");
    }

    @Test
    void a_local_job_waits_for_its_vm_and_rings_the_bell(SlurmPairFixture stage) throws IOException {
        LabCluster local = stage.local();
        Files.writeString(stage.bell(), "");
        long job = local.as(ClusterUser.ALICE).submit("true");
        try {
            assertThat(local.state(Long.toString(job))).isEqualTo("PENDING");
            assertThat(local.root()
                            .succeed("squeue", "-h", "-o", "%f", "-j", Long.toString(job))
                            .strip())
                    .isEqualTo("unplaced");
            assertThat(Files.size(stage.bell())).isPositive();
        } finally {
            local.as(ClusterUser.ALICE).succeed("scancel", Long.toString(job));
        }
        local.awaitState(job, "CANCELLED");
    }

    @Test
    void killed_daemons_come_back_and_know_what_they_knew(SlurmPairFixture stage) throws IOException {
        for (LabCluster cluster : List.of(stage.local(), stage.plain())) {
            long job = cluster.as(ClusterUser.BOB).submit("true", "--hold");
            cluster.terminateController();
            assertThat(cluster.as(ClusterUser.BOB).run("scontrol", "ping").out())
                    .contains("DOWN");
            cluster.startController();
            assertThat(cluster.state(Long.toString(job))).isEqualTo("PENDING");
            cluster.killController();
            cluster.killAccounting();
            cluster.startController();
            assertThat(cluster.state(Long.toString(job))).isEqualTo("PENDING");
            cluster.startAccounting();
            cluster.as(ClusterUser.BOB).succeed("scancel", Long.toString(job));
            cluster.await(
                    "accounting's end of " + job,
                    LIMIT,
                    () -> cluster.as(ClusterUser.BOB)
                            .succeed("sacct", "-X", "-n", "-P", "-j", Long.toString(job), "-o", "User,State")
                            .startsWith("bob|CANCELLED"));
        }
        stage.plain()
                .await("all idle again", LIMIT, () -> stage.plain().nodes("idle") == SlurmPairFixture.SHAPE.hosts());
    }

    @Test
    void one_that_ends_leaves_nothing_of_itself() throws IOException {
        LabHome home = LabHome.fromEnvironment();
        LabName name = new LabName("stage-life-" + ProcessHandle.current().pid());
        List<String> before = traces(name);
        try (SlurmPairFixture stage = SlurmPairFixture.up(home, name, LabRelease.own())) {
            assertThat(stage.plain().nodes("idle")).isEqualTo(SlurmPairFixture.SHAPE.hosts());
            assertThat(traces(name)).isNotEqualTo(before);
        }
        assertThat(traces(name)).isEqualTo(before);
        assertThat(home.folder(name)).doesNotExist();
    }

    private static List<String> traces(LabName name) throws IOException {
        Stream<String> processes = LabCommand.of("ps", "-e", "-o", "args=")
                .succeed()
                .lines()
                .filter(line -> line.contains(name.text()) && !line.contains("java "));
        Stream<String> mounts =
                Files.readAllLines(Path.of("/proc/mounts")).stream().filter(line -> line.contains(name.text()));
        Stream<String> links =
                LabCommand.of("ip", "-brief", "link").succeed().lines().map(line -> line.split(" ", 2)[0]);
        return Stream.of(processes, mounts, links).flatMap(each -> each).toList();
    }
}
