package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.lab.LabCommand;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.jobsubmit.JobSubmitPluginContract;
import org.cloister.vm.controller.jobsubmit.SubmitPluginData;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The submit plugin in a real slurmctld, as ordinary users meet it. */
@Tag("scenario")
@Tag("slurm")
@Timeout(180)
@ExtendWith(SharedLocalSlurm.class)
class SubmitPluginTest extends JobSubmitPluginContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String NODES_OF_ITS_OWN = "a job's nodes are made for it alone when its turn comes";
    private static final String SHAPE_REFUSAL = "Requested node configuration is not available";

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private final ClusterLogin bob;

    SubmitPluginTest(SlurmPairFixture stage) throws IOException {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
        this.bob = local.as(ClusterUser.BOB);
    }

    @Override
    protected Path installed() throws IOException {
        return local.slurmFolder().resolve("job_submit.lua");
    }

    @Override
    protected SlurmCommand slurm() throws IOException {
        return new SlurmCommand(Optional.of(local.programs()), Optional.empty(), LIMIT);
    }

    @Override
    protected SubmitPluginData data(int release) throws IOException {
        return stage.pluginData(release);
    }

    @Override
    protected void stopController() throws IOException {
        local.terminateController();
    }

    @Override
    protected void startController() throws IOException {
        local.startController();
    }

    @Test
    void what_cannot_be_is_refused_in_a_sentence_whatever_submits_it() throws IOException {
        Map<String, String> refused = new LinkedHashMap<>();
        refused.put("--nodelist=p1", "--nodelist=p1: " + NODES_OF_ITS_OWN + "; leave --nodelist (-w) out");
        refused.put("--exclude=p1", "--exclude=p1: " + NODES_OF_ITS_OWN + "; leave --exclude (-x) out");
        refused.put("--switches=1", "--switches=1: the site does not say how its switches lie; leave --switches out");
        refused.put("--contiguous", "--contiguous: a job's nodes have no order; leave --contiguous out");
        refused.put("--gres=gpu:1", "--gres=gpu:1: this release has no GPUs ");
        refused.put("--gpus=1", "--gpus=gpu:1: this release has no GPUs ");
        refused.put("--gpus-per-node=1", "--gres=gpu:1: this release has no GPUs ");
        refused.put(
                "--reservation=r", "--reservation=r: this cluster has no nodes to reserve; leave --reservation out");
        refused.put("--constraint=slow", "--constraint=slow: slow is no feature of this project, it has fast, ");
        refused.put("--constraint=unplaced", "--constraint=unplaced: unplaced is no feature of this project, ");
        refused.put("--constraint=fast|large", "--constraint=fast|large: only names can be asked for, joined with &; ");
        refused.put("--prefer=fast", "--prefer=fast: a job's nodes have all that it asks for, or it waits; ");
        for (Map.Entry<String, String> each : refused.entrySet()) {
            assertRefused(each.getKey(), each.getValue());
        }
    }

    @Test
    void shapes_that_no_host_has_are_refused_as_a_plain_cluster_does_and_with_both_values() throws IOException {
        Map<String, String> refused = new LinkedHashMap<>();
        refused.put("--cpus-per-task=3", "3 CPUs on a node: the site's largest host has 2; ask for fewer ");
        refused.put("--mem=2001", "2001 MiB of memory on a node: the site's largest host has 2000 MiB; ask for less ");
        refused.put(
                "--cpus-per-task=2",
                "2048 MiB of memory on a node (1024 MiB a CPU, as the job says none): the site's largest host has 2000 MiB; ");
        refused.put(
                "--ntasks=5",
                "5 CPUs in all: the site's hosts hold 4 for such tasks (1024 MiB a CPU, as the job says none); ");
        refused.put("--tmp=4001", "4001 MiB of disk on a node: the site's largest host has 4000 MiB; ask for less ");
        for (Map.Entry<String, String> each : refused.entrySet()) {
            assertRefused(each.getKey(), each.getValue());
            LabCommand.Output plain = sbatch(stage.plain().as(ClusterUser.ALICE), each.getKey());
            LabCommand.Output ours = sbatch(alice, each.getKey());
            assertThat(ours.exit()).as(each.getKey()).isEqualTo(plain.exit());
            assertThat(last(ours)).as(each.getKey()).isEqualTo(last(plain)).endsWith(SHAPE_REFUSAL);
        }
    }

    /** A plain cluster of Slurm 22.05 lets them wait, as somebody may add nodes; 24.11 refuses some, too. */
    @Test
    void more_than_the_site_has_is_refused_with_the_numbers() throws IOException {
        assertRefused("--nodes=5", "5 nodes: such a node fits on 4 of the site's hosts; ask for fewer (--nodes)");
        assertRefused(
                "--ntasks=9",
                "9 CPUs in all: the site's hosts hold 4 for such tasks (1024 MiB a CPU, as the job says none); ask for fewer ");
        assertRefused(
                "--ntasks=9 --mem-per-cpu=100",
                "9 CPUs in all: the site's hosts hold 8 for such tasks; ask for fewer ");
        for (String each : List.of("--nodes=5", "--ntasks=9")) {
            ClusterLogin user = stage.plain().as(ClusterUser.ALICE);
            LabCommand.Output plain = user.sbatch("--parsable", each, "--wrap=true");
            if (plain.exit() == 0) {
                String job = plain.out().strip();
                assertThat(stage.plain().state(job)).as(each).isEqualTo("PENDING");
                user.succeed("scancel", job);
            } else {
                assertThat(last(plain)).as(each).endsWith(SHAPE_REFUSAL);
            }
        }
    }

    @Test
    void each_component_of_a_set_and_every_array_is_looked_at() throws IOException {
        LabCommand.Output set = alice.sbatch("--ntasks=1", ":", "--constraint=slow", "--wrap=true");
        assertThat(set.exit()).isEqualTo(1);
        assertThat(set.err()).startsWith("sbatch: error: 1: --constraint=slow: slow is no feature of this project, ");
        LabCommand.Output array = sbatch(alice, "--array=1-4", "--exclude=p1");
        assertThat(array.exit()).isEqualTo(1);
        assertThat(array.err()).contains("--exclude=p1: " + NODES_OF_ITS_OWN);
        assertThat(queue()).isEmpty();
    }

    @Test
    void a_mapped_constraint_is_kept_and_no_user_can_write_where() throws IOException {
        long job = alice.submit("true", "--constraint=large&fast&large", "--begin=now+600");
        try {
            assertThat(shown(job)).contains("Features=unplaced ").containsPattern("AdminComment=v=1 features=0,1 ?\n");
            assertThat(update(alice, job, "admincomment=v=1 features=-").exit()).isEqualTo(1);
            assertThat(shown(job)).containsPattern("AdminComment=v=1 features=0,1 ?\n");
        } finally {
            alice.succeed("scancel", Long.toString(job));
        }
    }

    @Test
    void root_submits_nothing() throws IOException {
        LabCommand.Output output = local.root().sbatch("--wrap=true");
        assertThat(output.exit()).isEqualTo(1);
        assertThat(output.err()).contains("root runs no jobs here", "submit as a member of the project");
        assertThat(local.root().sbatch("--uid=root", "--wrap=true").exit()).isEqualTo(1);
        assertThat(queue()).isEmpty();
    }

    @Test
    void what_a_user_may_not_change_stays_as_it_is() throws IOException {
        long job = alice.submit("true", "--constraint=fast", "--begin=now+600");
        try {
            String before = shown(job);
            Map<String, String> refused = new LinkedHashMap<>();
            refused.put("features=large", "Access/permission denied");
            refused.put("features=", "Access/permission denied");
            refused.put("partition=other", "Access/permission denied");
            refused.put("admincomment=x", "Access/permission denied");
            refused.put("nodelist=p1", "Invalid node name specified");
            refused.put("nodelist=", "Invalid node name specified");
            refused.put("excnodelist=p1", "Invalid node name specified");
            refused.put("prefer=fast", "Invalid feature specification");
            refused.put("reservationname=r", "Requested reservation is invalid");
            refused.put("gres=gpu:1", "Invalid generic resource (gres) specification");
            refused.put("switches=1", "Requested operation not supported on this system");
            refused.put("contiguous=yes", "Requested operation not supported on this system");
            refused.put("numnodes=5", SHAPE_REFUSAL);
            refused.put("numcpus=9", SHAPE_REFUSAL);
            refused.put("mincpusnode=3", SHAPE_REFUSAL);
            refused.put("minmemorynode=2001", SHAPE_REFUSAL);
            refused.put("mintmpdisknode=4001", SHAPE_REFUSAL);
            for (Map.Entry<String, String> each : refused.entrySet()) {
                LabCommand.Output output = update(alice, job, each.getKey());
                assertThat(output.exit()).as(each.getKey()).isEqualTo(1);
                assertThat(output.err().strip()).as(each.getKey()).isEqualTo(each.getValue() + " for job " + job);
            }
            assertThat(shown(job)).isEqualTo(before);
            assertThat(Files.readString(local.head().log("slurmctld")))
                    .contains("job_submit.lua: job " + job
                            + " of uid 2001, change by uid 2001: features=large: a waiting "
                            + "job's features are its place in the queue; ");
        } finally {
            alice.succeed("scancel", Long.toString(job));
        }
    }

    @Test
    void another_user_changes_nothing_and_what_is_a_users_own_to_change_is_changed() throws IOException {
        long job = alice.submit("true", "--begin=now+600");
        try {
            assertThat(update(bob, job, "features=fast").exit()).isEqualTo(1);
            assertThat(update(bob, job, "comment=theirs").exit()).isEqualTo(1);
            for (String each : List.of(
                    "comment=mine",
                    "name=n",
                    "nice=3",
                    "timelimit=5",
                    "numnodes=4",
                    "numnodes=1",
                    "partition=secure")) {
                assertThat(update(alice, job, each)).as(each).isEqualTo(new LabCommand.Output(0, "", ""));
            }
            alice.succeed("scontrol", "hold", Long.toString(job));
            alice.succeed("scontrol", "release", Long.toString(job));
            assertThat(shown(job)).contains("Comment=mine", "TimeLimit=00:05:00", "Features=unplaced ");
            local.root().succeed("scontrol", "update", "jobid=" + job, "admincomment=v=1 features=-");
            assertThat(shown(job)).containsPattern("AdminComment=v=1 features=- ?\n");
        } finally {
            alice.succeed("scancel", Long.toString(job));
        }
    }

    private void assertRefused(String option, String sentence) throws IOException {
        for (String program : List.of("sbatch", "srun", "salloc")) {
            List<String> argv = new ArrayList<>(List.of(program));
            argv.addAll(List.of(option.split(" ", -1)));
            argv.add(program.equals("sbatch") ? "--wrap=true" : "true");
            LabCommand.Output output = alice.command(argv).run();
            assertThat(output.exit()).as(program + " " + option).isEqualTo(1);
            assertThat(output.err()).as(program + " " + option).startsWith(program + ": error: " + sentence);
        }
        assertThat(queue()).as(option).isEmpty();
    }

    private static LabCommand.Output sbatch(ClusterLogin user, String... options) throws IOException {
        List<String> argv = new ArrayList<>(List.of(options));
        argv.add("--wrap=true");
        return user.sbatch(argv.toArray(String[]::new));
    }

    private static LabCommand.Output update(ClusterLogin user, long job, String change) throws IOException {
        return user.run("scontrol", "update", "jobid=" + job, change);
    }

    private static String last(LabCommand.Output output) {
        return output.err().lines().reduce("", (first, line) -> line);
    }

    private String shown(long job) throws IOException {
        // When the scheduler last looked, and what it saw then, is not of the change.
        return local.root()
                .succeed("scontrol", "show", "job", Long.toString(job))
                .replaceAll("(LastSchedEval|Reason)=\\S+", "");
    }

    /** Jobs that wait or run; those of other scenarios have ended. */
    private String queue() throws IOException {
        return local.root().succeed("squeue", "-h", "-t", "PD,R,CF", "-o", "%i").strip();
    }
}
