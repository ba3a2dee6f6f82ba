package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.lab.localslurm.WorkerFault;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Bob after a node that came for Alice and is idle: it waits for the second component of her job, whose VM is late. Whatever he
 * does, her job runs on it first and his never do.
 */
@Tag("scenario")
@Tag("slurm")
@RotatedScenario(11)
@ExtendWith(SharedLocalSlurm.class)
class NodeTheftTest {
    private static final Duration LATE = Duration.ofSeconds(12);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final SlurmPairFixture stage;
    private final ClusterLogin alice;
    private final ClusterLogin bob;
    private ControllerProcess controller;
    private long hers;
    private String node;
    private String ticket;

    NodeTheftTest(SlurmPairFixture stage) throws IOException {
        this.stage = stage;
        this.alice = stage.local().as(ClusterUser.ALICE);
        this.bob = stage.local().as(ClusterUser.BOB);
    }

    @BeforeEach
    void an_idle_node_of_alices() throws IOException {
        controller = stage.startController(4);
        stage.local()
                .await(
                        "no node of another job",
                        LIMIT,
                        () -> stage.workers().nodes().isEmpty());
        stage.workers().faults().add(WorkerFault.late(LATE));
        hers = Long.parseLong(alice.succeed(
                        "sbatch",
                        "--parsable",
                        "-t",
                        "5",
                        "-o",
                        "/dev/null",
                        "-n",
                        "1",
                        ":",
                        "-n",
                        "1",
                        "--wrap=sleep 1")
                .strip());
        List<String> free = new ArrayList<>();
        stage.local().await("her node", LIMIT, () -> free.addAll(free()));
        assertThat(free).hasSize(1);
        String line = free.get(0);
        node = line.split(" ", 2)[0];
        ticket = line.split(" ", 2)[1];
    }

    /** Names and features of nodes that have no job and take one; those of earlier jobs are drained. */
    private List<String> free() throws IOException {
        return stage.local()
                .root()
                .succeed("sinfo", "-h", "-N", "-o", "%t %N %f")
                .lines()
                .filter(line -> line.startsWith("idle ") || line.startsWith("plnd "))
                .map(line -> line.substring("idle ".length()).strip())
                .toList();
    }

    @AfterEach
    void it_was_hers() throws Exception {
        try {
            assertThat(stage.local().root().succeed("sinfo", "-h", "-n", node, "-o", "%t"))
                    .as("her node while he tried")
                    // The scheduler's plans come and go.
                    .isIn("idle\n", "plnd\n");
            stage.local()
                    .await(
                            "her job's end",
                            LIMIT,
                            () -> stage.local()
                                    .root()
                                    .succeed("sacct", "-n", "-X", "-P", "-j", Long.toString(hers), "-o", "State")
                                    .equals("COMPLETED\nCOMPLETED\n"));
            // sacct's own choice by node goes by places in the list of nodes, which others have had before.
            String jobs = stage.local().root().succeed("sacct", "-a", "-n", "-X", "-P", "-o", "User,NodeList");
            String vms = node.substring(0, node.lastIndexOf('-'));
            assertThat(jobs.lines().filter(line -> line.contains(vms)))
                    .isNotEmpty()
                    .allMatch(line -> line.startsWith("alice|"));
        } finally {
            bob.run("scancel", "-u", "bob");
            stage.awaitNoTickets();
            controller.close();
        }
    }

    @Test
    void nobody_asks_for_a_node_or_its_ticket_at_submission() throws IOException {
        for (List<String> options : List.of(
                List.of("-C", ticket),
                List.of("-C", ticket + "&unplaced"),
                List.of("-C", "[" + ticket + "|unplaced]"),
                List.of("-w", node),
                List.of("--nodelist=" + node),
                List.of("-x", "waiting-for-vm-[0001-0004]"),
                List.of("--prefer=" + ticket),
                List.of("--batch=" + ticket),
                List.of("--reservation=" + ticket))) {
            for (String program : List.of("sbatch", "srun", "salloc")) {
                assertThat(submit(program, options).exit())
                        .as("%s %s", program, options)
                        .isNotZero();
            }
        }
    }

    @Test
    void a_waiting_job_is_not_changed_into_one_with_her_ticket() throws IOException {
        long job = bob.submit("true", "-t", "5", "-H", "-o", "/dev/null");
        for (String change : List.of(
                "Features=" + ticket,
                "Features=",
                "BatchFeatures=" + ticket,
                "ReqNodeList=" + node,
                "NodeList=" + node,
                "ExcNodeList=waiting-for-vm-[0001-0004]",
                "ReservationName=" + ticket,
                "AdminComment=v=1 features=-",
                "Priority=4000000000",
                "UserID=2001")) {
            assertThat(bob.run("scontrol", "update", "jobid=" + job, change).exit())
                    .as(change)
                    .isNotZero();
        }
        assertThat(stage.local().root().succeed("scontrol", "show", "job", Long.toString(job)))
                .contains("Features=unplaced", "JobState=PENDING");
    }

    @Test
    void release_requeue_and_top_start_nothing_on_her_node() throws IOException {
        long job = bob.submit("true", "-t", "5", "-H", "-o", "/dev/null", "--requeue");
        for (List<String> verb : List.of(
                List.of("release"),
                List.of("requeue"),
                List.of("top"),
                List.of("resume"),
                List.of("hold"),
                List.of("release"))) {
            bob.run("scontrol", verb.get(0), Long.toString(job));
            assertThat(stage.local()
                            .root()
                            .succeed("squeue", "-h", "-w", node, "-o", "%u")
                            .lines())
                    .allMatch("alice"::equals);
        }
    }

    @Test
    void her_node_and_her_job_are_not_his_to_change() throws IOException {
        for (List<String> verb : List.of(
                List.of("update", "nodename=" + node, "Features=mine"),
                List.of("update", "nodename=" + node, "State=DRAIN", "Reason=mine"),
                List.of("delete", "nodename=" + node),
                List.of("update", "nodename=waiting-for-vm-0001", "State=RESUME"),
                List.of("create", "nodename=mine", "CPUs=1", "Feature=unplaced", "State=CLOUD"),
                List.of("create", "reservation", "users=bob", "nodes=" + node, "starttime=now", "duration=5"),
                List.of("update", "partitionname=secure", "AllowAccounts=mine"),
                List.of("reconfigure"),
                List.of("update", "jobid=" + hers, "Features=unplaced"),
                List.of("hold", Long.toString(hers)),
                List.of("requeue", Long.toString(hers)))) {
            List<String> argv = new ArrayList<>(List.of("scontrol"));
            argv.addAll(verb);
            assertThat(bob.command(argv).run().exit()).as(verb.toString()).isNotZero();
        }
        assertThat(bob.run("scancel", Long.toString(hers)).err()).contains("Access/permission denied");
        assertThat(bob.srun("--jobid=" + hers, "true").exit()).isNotZero();
    }

    @Test
    void a_slurmd_of_his_own_is_taken_for_no_node() throws IOException {
        String before = nodes();
        String one =
                "timeout 2 slurmd -D -Z -N %1$s -P %2$s --conf 'CPUs=1 RealMemory=100 Port=%2$s Feature=unplaced' & ";
        String all = one.formatted("waiting-for-vm-0001", "9")
                + one.formatted("waiting-for-vm-0002", "6818")
                + one.formatted(node, "16818")
                + one.formatted("mine", "26818");
        bob.run("sh", "-c", all + "wait");
        assertThat(nodes()).isEqualTo(before);
    }

    @Test
    void a_jobs_name_comment_and_paths_forge_no_record() throws IOException {
        String forged = "x\nJobId=" + hers + " Features=unplaced|" + ticket + "\n" + hers + "|PENDING|" + node + " ";
        long job = Long.parseLong(bob.command(List.of(
                        "sbatch",
                        "--parsable",
                        "-t",
                        "5",
                        "-H",
                        "-J",
                        forged,
                        "--comment=" + forged,
                        "-o",
                        "/tmp/" + forged.replace('/', '_'),
                        "-D",
                        "/tmp",
                        "--wrap=true"))
                .succeed()
                .strip());
        assertThat(bob.run("scontrol", "release", Long.toString(job)).exit()).isZero();
        stage.local().awaitState(Long.toString(job), "COMPLETED", LIMIT);
    }

    private LabCommand.Output submit(String program, List<String> options) throws IOException {
        List<String> argv = new ArrayList<>(List.of(program, "-t", "5"));
        argv.addAll(options);
        argv.add(program.equals("sbatch") ? "--wrap=true" : "true");
        return bob.command(argv).run();
    }

    private String nodes() throws IOException {
        return stage.local().root().succeed("sinfo", "-h", "-N", "-o", "%N %t %f");
    }
}
