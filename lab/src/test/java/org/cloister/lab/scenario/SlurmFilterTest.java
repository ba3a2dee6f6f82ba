package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Sandbox;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.FilterProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Root of a worker, who has the project's munge key and so speaks as any uid: what of slurmctld is reached from there, and what
 * a job's commands reach as on any cluster. All of it through the filter, with the real Slurm at both ends.
 */
@Tag("scenario")
@Tag("slurm")
@Tag("boundary")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(SharedLocalSlurm.class)
class SlurmFilterTest {
    /**
     * What slurmctld's log has of an order that was taken. A node that comes has Slurm's plugins read their configuration again, which
     * they call to reconfigure, too.
     */
    private static final List<String> EFFECTS = List.of(
            "Processing Reconfiguration",
            "rpc_reconfigure",
            "SHUTDOWN",
            "Terminate signal",
            "Security violation",
            "trigger");

    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** root, Slurm's own account, and the job's user. */
    private static final List<String> UIDS = List.of("root", "slurm", "alice");

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private final FilterProcess filter;
    private ControllerProcess controller;
    private long job;
    private Sandbox worker;

    SlurmFilterTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
        this.filter = stage.filter();
    }

    @BeforeAll
    void a_job_of_two_nodes_runs() throws IOException {
        controller = stage.startController(4);
        job = alice.submit(
                "until [ -e go ]; do sleep 0.2; done; srun hostname >after 2>&1; echo exit=$? >>after; sleep 600",
                "-N2",
                "-t",
                "10",
                "--mem=100",
                "-o",
                "/dev/null");
        local.awaitState(job, "RUNNING");
        String first = local.root()
                .succeed("squeue", "-h", "-j", Long.toString(job), "-o", "%B")
                .strip();
        worker = Sandbox.find(stage.name(), first).orElseThrow();
    }

    @AfterAll
    void nothing_stays() throws IOException {
        local.root().run("scancel", "-u", "alice");
        stage.awaitNoTickets();
        controller.close();
    }

    private LabCommand.Output asRootOfTheWorker(String uid, List<String> argv) throws IOException {
        List<String> whole =
                new ArrayList<>(List.of("timeout", "25", "setpriv", "--reuid=" + uid, "--clear-groups", "--"));
        whole.addAll(argv);
        return worker.command(whole).run();
    }

    private String configured(String key) throws IOException {
        return local.root()
                .succeed("scontrol", "show", "config")
                .lines()
                .filter(line -> line.startsWith(key))
                .findFirst()
                .orElseThrow();
    }

    private String controllerLog() throws IOException {
        return Files.readString(local.head().log("slurmctld"));
    }

    private String state() throws IOException {
        return configured("SlurmctldDebug")
                + configured("DebugFlags")
                + configured("BOOT_TIME")
                + local.root().succeed("sinfo", "-h", "-o", "%P %a %l %g")
                + local.root().succeed("scontrol", "show", "reservation")
                + local.root().succeed("strigger", "--get", "--noheader")
                + local.root()
                        .succeed(
                                "sinfo", "-h", "-N", "-n", worker.name() + ",waiting-for-vm-0001", "-o", "%N %T %f %w");
    }

    @Test
    void administration_from_a_worker_is_refused_whatever_uid_is_forged() throws IOException {
        String node = worker.name();
        String before = state();
        int logged = controllerLog().length();
        for (String uid : UIDS) {
            for (List<String> argv : List.of(
                    List.of("strigger", "--set", "--node", "--down", "--program=/bin/true"),
                    List.of("strigger", "--set", "--reconfig", "--program=/bin/true"),
                    List.of("strigger", "--get"),
                    List.of("strigger", "--clear", "--user=0"),
                    List.of("scontrol", "update", "nodename=" + node, "state=drain", "reason=x"),
                    List.of("scontrol", "update", "nodename=" + node, "weight=7"),
                    List.of("scontrol", "update", "partitionname=secure", "state=down"),
                    List.of("scontrol", "create", "partitionname=mine"),
                    List.of(
                            "scontrol",
                            "create",
                            "reservation",
                            "users=root",
                            "nodes=ALL",
                            "starttime=now",
                            "duration=5"),
                    List.of("scontrol", "create", "nodename=mine", "CPUs=1", "State=CLOUD"),
                    List.of("scontrol", "delete", "nodename=waiting-for-vm-0001"),
                    List.of("scontrol", "setdebug", "debug5"),
                    List.of("scontrol", "setdebugflags", "+protocol"),
                    List.of("scontrol", "schedloglevel", "1"),
                    List.of("scontrol", "suspend", Long.toString(job)),
                    List.of("scontrol", "write", "batch_script", Long.toString(job), "-"),
                    List.of("scontrol", "token"),
                    List.of("scontrol", "reboot", "ALL"),
                    List.of("sdiag", "--reset"),
                    List.of("scontrol", "reconfigure"),
                    List.of("scontrol", "shutdown", "slurmctld"))) {
                assertThat(asRootOfTheWorker(uid, argv))
                        .as("%s as %s", argv, uid)
                        // Of some failures scontrol ends with 0.
                        .matches(
                                output -> output.exit() != 0
                                        || (output.out().isBlank()
                                                && !output.err().isBlank()),
                                "is refused");
            }
        }
        assertThat(state()).isEqualTo(before);
        assertThat(controllerLog().substring(logged)).doesNotContain(EFFECTS);
        local.awaitState(job, "RUNNING");
        local.await(
                "the filter's counts",
                LIMIT,
                () -> filter.state()
                        .readRefusals()
                        .filter(all -> all.getOrDefault("request_trigger_set", 0L) >= 6
                                && all.getOrDefault("request_shutdown", 0L) >= 3)
                        .isPresent());
        assertThat(Files.readString(filter.log())).contains("reason=\"type REQUEST_TRIGGER_SET is not for workers\"");
    }

    @Test
    void slurmctld_sees_each_node_at_its_own_address() throws IOException {
        for (String line : local.root()
                .succeed("scontrol", "show", "node", worker.name())
                .lines()
                .filter(each -> each.contains("NodeAddr="))
                .toList()) {
            assertThat(line).contains("NodeAddr=10.90.").doesNotContain("NodeAddr=10.90.0.1 ");
        }
        assertThat(worker.command("scontrol", "ping").run().out()).contains("is UP");
    }

    @Test
    void a_jobs_commands_work_as_on_any_cluster() throws IOException {
        Path words = local.homes().resolve("alice/commands.out");
        String script = """
                try() { if "$@" >/tmp/said 2>&1; then echo "ok $1 $2"; else echo "FAILED $*: $(head -c 300 /tmp/said)"; fi; }
                try srun hostname
                try srun -n1 -N1 --overlap true
                try squeue --me
                try squeue --steps
                try sinfo
                try sprio
                try sshare
                try scontrol show job $SLURM_JOB_ID
                try scontrol show node
                try scontrol show partition
                try scontrol show config
                try scontrol show steps
                try scontrol ping
                try scontrol listpids
                srun -n1 -N1 --overlap sleep 60 &
                until squeue -h --steps -j $SLURM_JOB_ID -o %i | grep -q '\\.[1-9]'; do sleep 0.2; done
                step=$(squeue -h --steps -j $SLURM_JOB_ID -o %i | grep '\\.[0-9]' | tail -1)
                try sstat -n -j $step
                timeout 2 sattach --layout $step >/tmp/said 2>&1 && echo ok sattach || echo "FAILED sattach: $(cat /tmp/said)"
                try sbcast /etc/hostname /tmp/copied
                try scancel $step
                wait
                other=$(sbatch --parsable -H -t 1 -n 1 --mem=100 -o /dev/null --wrap=true) && echo ok sbatch
                try scontrol update jobid=$other TimeLimit=2
                try scontrol release $other
                try scontrol hold $other
                try scancel $other
                try sbatch --test-only -t 1 -n 1 --wrap=true
                sbatch --parsable -t 1 -n 1 --mem=100 -o /dev/null --wrap=true >/dev/null && echo ok another
                echo done
                """;
        Path file = local.homes().resolve("alice/commands.sh");
        Files.writeString(file, "#!/bin/bash\n" + script);
        long commands = Long.parseLong(alice.succeed(
                        "sbatch", "--parsable", "-N2", "-t", "5", "--mem=100", "-o", "commands.out", "commands.sh")
                .strip());
        local.await(
                "the commands of job " + commands,
                Duration.ofMinutes(2),
                () -> Files.exists(words) && Files.readString(words).contains("done\n"));
        assertThat(Files.readString(words).lines().filter(line -> line.startsWith("FAILED")))
                .as(Files.readString(words))
                // Slurm says that it has no nodes now, here as at the head node.
                .allMatch(line -> line.startsWith("FAILED sbatch --test-only"));
        assertThat(Files.readString(words)).contains("ok srun hostname", "ok sbatch", "ok sattach", "ok sstat");
        local.awaitState(Long.toString(commands), "COMPLETED", LIMIT);
    }

    @Test
    void a_job_that_requeues_itself_is_requeued() throws IOException {
        long again = alice.submit(
                "if [ \"${SLURM_RESTART_COUNT:-0}\" = 0 ]; then scontrol requeue $SLURM_JOB_ID; sleep 60; fi",
                "--requeue",
                "-t",
                "5",
                "-n1",
                "--mem=100",
                "-o",
                "/dev/null");
        local.await(
                "a requeue of job " + again,
                LIMIT,
                () -> local.root()
                        .succeed("scontrol", "show", "job", Long.toString(again))
                        .contains("Restarts=1"));
        alice.succeed("scancel", Long.toString(again));
    }

    @Test
    void a_killed_filter_costs_no_job_and_the_next_one_serves() throws IOException {
        filter.kill();
        filter.awaitRunning(true);
        assertThat(local.state(Long.toString(job))).isEqualTo("RUNNING");
        Files.writeString(local.homes().resolve("alice/go"), "");
        Path after = local.homes().resolve("alice/after");
        local.await(
                "a step after the filter came back",
                LIMIT,
                () -> Files.exists(after) && Files.readString(after).contains("exit="));
        assertThat(Files.readString(after)).endsWith("exit=0\n");
        assertThat(Files.readString(after).lines().filter(line -> line.startsWith("vm-")))
                .hasSize(2);
    }

    /** A port that anybody may take, while nobody of ours has it. */
    @Test
    void nobody_answers_workers_in_the_place_of_a_filter_that_is_dead() throws IOException {
        filter.stop();
        try {
            String listen = "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => '10.90.0.1:16817',"
                    + " Listen => 5, ReuseAddr => 1) or die 'not bound'; open(my $f, '>', \"$ENV{HOME}/bound\"); close $f;"
                    + " alarm 20; $s->accept; open($f, '>', \"$ENV{HOME}/heard\")";
            alice.succeed("sh", "-c", "setsid --fork perl -e \"$0\" >/dev/null 2>&1 </dev/null", listen);
            Path bound = local.homes().resolve("alice/bound");
            local.await("her port", LIMIT, () -> Files.exists(bound));
            assertThat(worker.command("timeout", "4", "bash", "-c", "exec 3<>/dev/tcp/10.90.0.1/6817")
                            .run()
                            .exit())
                    .isNotZero();
            assertThat(local.homes().resolve("alice/heard")).doesNotExist();
        } finally {
            alice.run("pkill", "-u", "alice", "perl");
            filter.start();
        }
        assertThat(worker.command("scontrol", "ping").run().out()).contains("is UP");
    }

    /** Opens 400 connections that say nothing, and keeps them until it is killed. Returns how many there are. */
    private int keepConnections(ClusterLogin who) throws IOException {
        Path count = local.homes().resolve("alice/kept");
        Files.deleteIfExists(count);
        String keep = "use IO::Socket::INET; my @kept = map { IO::Socket::INET->new(PeerAddr => '10.90.0.1:6817',"
                + " Blocking => 0) } 1 .. 400; sleep 2; open(my $f, '>', \"$ARGV[0].new\");"
                + " print $f scalar grep { $_ && $_->connected } @kept; close $f; rename \"$ARGV[0].new\", $ARGV[0];"
                + " sleep 60";
        who.succeed(
                "sh",
                "-c",
                "ulimit -n 1024; setsid --fork perl -e \"$0\" \"$1\" >/dev/null 2>&1 </dev/null",
                keep,
                count.toString());
        local.await("the connections", LIMIT, () -> Files.exists(count));
        return Integer.parseInt(Files.readString(count));
    }

    private void assertThatTheQueueAnswers() throws IOException {
        for (int round = 0; round < 5; round++) {
            assertThat(local.root().run("timeout", "15", "squeue").exit()).isZero();
        }
        assertThat(worker.command("timeout", "15", "scontrol", "ping").run().out())
                .contains("is UP");
    }

    /** At its most, slurmctld takes no further connection, and waits for those that say nothing. */
    @Test
    void who_keeps_connections_open_stops_the_queue_for_nobody_and_a_member_has_32_of_them() throws IOException {
        try {
            assertThat(keepConnections(alice)).isEqualTo(32);
            assertThatTheQueueAnswers();
            assertThat(keepConnections(local.root()))
                    .as("more than slurmctld's own 150")
                    .isEqualTo(400);
            assertThatTheQueueAnswers();
        } finally {
            local.root().run("pkill", "-f", "IO::Socket::INET.*Blocking");
        }
        assertThat(alice.run("timeout", "60", "squeue").exit()).isZero();
    }

    @Test
    void a_member_has_no_connection_to_the_storage_server() throws IOException {
        String listen =
                "use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalAddr => '10.90.0.1:2049', Listen => 5,"
                        + " ReuseAddr => 1) or die; if (fork) { exit } alarm 20; close STDOUT; close STDERR; sleep 20";
        local.root().succeed("perl", "-e", listen);
        String connect = "exec 3<>/dev/tcp/10.90.0.1/2049";
        assertThat(local.root().run("timeout", "3", "bash", "-c", connect).exit())
                .isZero();
        assertThat(alice.run("timeout", "3", "bash", "-c", connect).exit()).isEqualTo(124);
    }

    @Test
    void without_a_filter_nothing_passes_and_a_new_node_waits_and_why_says_so() throws IOException {
        filter.stop();
        try {
            for (String uid : UIDS) {
                assertThat(asRootOfTheWorker(uid, List.of("scontrol", "reconfigure"))
                                .exit())
                        .isNotZero();
            }
            long waits = alice.submit("true", "-t", "5", "-n1", "--mem=100", "-o", "/dev/null");
            Path status = stage.bell().resolveSibling("jobs/" + waits + ".json");
            local.await(
                    "the status of job " + waits,
                    LIMIT,
                    () -> Files.exists(status)
                            && Files.readString(status).contains("the filter before slurmctld does not run"));
            assertThat(Files.readString(status)).contains("\"waitsOn\":\"the controlling VM\"");
            assertThat(local.state(Long.toString(job))).isEqualTo("RUNNING");
            filter.start();
            local.awaitState(Long.toString(waits), "COMPLETED", LIMIT);
        } finally {
            if (!filter.state().isRunning()) {
                filter.start();
            }
        }
    }
}
