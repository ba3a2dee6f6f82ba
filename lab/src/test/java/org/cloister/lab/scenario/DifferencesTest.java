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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each row of docs/slurm.md, "What differs from a plain cluster", on both. */
@Tag("scenario")
@Tag("slurm")
@RotatedScenario(9)
@ExtendWith(SharedLocalSlurm.class)
class DifferencesTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final SlurmPairFixture stage;
    private ControllerProcess controller;

    DifferencesTest(SlurmPairFixture stage) {
        this.stage = stage;
    }

    @BeforeEach
    void start() throws IOException {
        controller = stage.startController(4);
    }

    @AfterEach
    void tearDown() throws IOException {
        stage.awaitNoTickets();
        controller.close();
    }

    @Test
    void immediate_is_refused_for_no_node_is_idle_before_it_is_asked_for() throws IOException {
        assertThat(plain().srun("--immediate", "true").exit()).isZero();
        LabCommand.Output refused = local().srun("--immediate", "true");
        assertThat(refused.exit()).isNotZero();
        assertThat(refused.err()).contains("Unable to allocate resources");
    }

    @Test
    void nodes_are_not_chosen_by_name() throws IOException {
        assertThat(plain().srun("--nodelist=p1", "true").exit()).isZero();
        refuses("--nodelist=waiting-for-vm-0001", "a job's nodes are made for it alone");
        assertThat(plain().srun("--exclude=p1", "true").exit()).isZero();
        refuses("--exclude=waiting-for-vm-0001", "a job's nodes are made for it alone");
    }

    @Test
    void there_are_no_gpus_and_the_sentence_is_ours() throws IOException {
        assertThat(plain().sbatch("--gres=gpu:1", "--wrap=true").exit()).isNotZero();
        refuses("--gres=gpu:1", "this release has no GPUs");
    }

    @Test
    void test_only_knows_no_start() throws IOException {
        assertThat(plain().sbatch("--test-only", "--wrap=true").exit()).isZero();
        LabCommand.Output unknown = local().sbatch("--test-only", "--wrap=true");
        assertThat(unknown.exit()).isNotZero();
        assertThat(unknown.err()).contains("allocation failure: Requested node configuration is not available");
    }

    @Test
    void sinfo_shows_the_waiting_block() throws IOException {
        assertThat(plain().succeed("sinfo", "-h", "-o", "%N")).isEqualTo("p[1-4]\n");
        stage.local()
                .await(
                        "the block alone",
                        LIMIT,
                        // After some minutes with a star: it does not answer.
                        () -> local().succeed("sinfo", "-h", "-o", "%N %t")
                                .matches("waiting-for-vm-\\[0001-0004] down\\*?\n"));
    }

    @Test
    void srun_and_salloc_say_at_their_start_that_no_node_is_there_and_wait() throws IOException {
        String reason = "Required node not available (down, drained or reserved)";
        for (String[] line : new String[][] {{"srun", "true"}, {"salloc", "true"}}) {
            assertThat(plain().run(line).err()).doesNotContain(reason);
            LabCommand.Output waited = local().run(line);
            assertThat(waited.exit()).isZero();
            assertThat(waited.err()).contains(line[0] + ": " + reason);
        }
    }

    /** How often salloc looks for it, and whether it says so, is up to the release. */
    @Test
    void salloc_waits_for_its_node() throws IOException {
        assertThat(plain().run("salloc", "true").exit()).isZero();
        LabCommand.Output later = local().run("salloc", "true");
        assertThat(later.exit()).isZero();
        assertThat(later.err()).containsPattern("salloc: Nodes \\S+ are ready for job");
    }

    private void refuses(String option, String why) throws IOException {
        LabCommand.Output refused = local().sbatch(option, "--wrap=true");
        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.err()).contains(option).contains(why);
    }

    private ClusterLogin local() throws IOException {
        return login(stage.local());
    }

    private ClusterLogin plain() throws IOException {
        return login(stage.plain());
    }

    private ClusterLogin login(LabCluster cluster) {
        return cluster.as(ClusterUser.ALICE);
    }
}
