package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Sandbox;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
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
 * Root of a worker before the slurmd of another worker of the same job: docs/threat-model.md, the rows of slurmd's table whose
 * requests a command of Slurm sends. Each is sent as root and as Slurm's own account, as the job's user and as somebody else.
 */
@Tag("scenario")
@Tag("slurm")
@Tag("boundary")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(SharedLocalSlurm.class)
class SlurmdRequestsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> SLURMS_OWN = List.of("root", "slurm");
    /** Slurm's own, and the job's user. */
    private static final List<String> OWN = List.of("root", "slurm", "alice");

    private static final List<String> ALL = List.of("root", "slurm", "alice", "bob");
    /** Of the job's user, and of somebody else. */
    private static final int UID = ClusterUser.ALICE.uid();

    private static final int OTHER_UID = ClusterUser.BOB.uid();

    /** Says that it is there, what it was sent, and at which port it has a connection to the first task. */
    private static final String STEP = """
            use IO::Socket::INET;
            my $n = $ENV{SLURM_NODEID};
            $SIG{USR1} = sub { open(my $f, '>>', "signals-$n"); print $f "USR1\\n" };
            my $place = $n ? undef : IO::Socket::INET->new(LocalPort => 7777, Listen => 1, ReuseAddr => 1);
            my $held;
            for (my $i = 0; $n && !$held && $i < 100; $i++) {
                $held = IO::Socket::INET->new(PeerAddr => "$ENV{FIRST}:7777") or select(undef, undef, undef, 0.1);
            }
            open(my $r, '>', "new-$n");
            print $r $held ? $held->sockhost . ' ' . $held->sockport . ' ' . $held->peerhost : '', "\\n";
            close $r;
            rename "new-$n", "ready-$n";
            $| = 1;
            while (1) { print "alive-$n\\n"; select(undef, undef, undef, 0.2) }
            """;

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private final Path home;
    private ControllerProcess controller;
    private long job;
    private String step;
    /** With the job's first task. */
    private Sandbox forger;

    private Sandbox target;
    private String connection;

    SlurmdRequestsTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
        this.home = local.homes().resolve("alice");
    }

    @BeforeAll
    void a_step_runs_on_two_workers() throws IOException {
        controller = stage.startController(4);
        Files.writeString(home.resolve("step.pl"), STEP);
        job = alice.submit(
                "FIRST=$(scontrol getaddrs \"$(scontrol show hostnames | head -1)\" | sed 's/.*: //;s/:.*//')"
                        + " srun perl step.pl; sleep 600",
                "-N2",
                "-n2",
                "-t",
                "10",
                "--mem=100",
                "-o",
                "job.out");
        step = job + ".0";
        local.awaitState(job, "RUNNING");
        local.await(
                "the step",
                LIMIT,
                () -> Files.exists(home.resolve("ready-0")) && Files.exists(home.resolve("ready-1")));
        connection = Files.readString(home.resolve("ready-1")).strip();
        List<String> nodes = local.root()
                .succeed("sh", "-c", "scontrol show hostnames \"$(squeue -h -j " + job + " -o %N)\"")
                .lines()
                .toList();
        forger = stage.workers().machine(nodes.get(0));
        target = stage.workers().machine(nodes.get(1));
    }

    @AfterAll
    void nothing_stays() throws IOException {
        local.root().run("scancel", "-u", "alice");
        stage.awaitNoTickets();
        controller.close();
    }

    private LabCommand.Output forged(String uid, String... argv) throws IOException {
        List<String> whole = new ArrayList<>(
                List.of("timeout", "10", "setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups", "--"));
        whole.addAll(List.of(argv));
        return forger.command(whole).run();
    }

    private String slurmdLog() throws IOException {
        return Files.readString(local.folder().resolve("log").resolve(target.name() + ".log"));
    }

    /** @param pattern of a part of a line; 24.11 and 26.05 word some otherwise */
    private void awaitLogged(int from, String pattern) throws IOException {
        Pattern line = Pattern.compile(pattern);
        local.await(
                "slurmd's \"" + line + "\"",
                LIMIT,
                () -> line.matcher(slurmdLog().substring(from)).find());
    }

    /** Pattern for somebody else's request for a job of the user's; the number of the job is not always the right one. */
    private static String refused(String request) {
        return request + "from uid " + OTHER_UID + " for [^\n]* owned by uid " + UID;
    }

    /** slurmctld gives no other uid a credential for the job. */
    @Test
    void tasks_start_as_the_uid_of_a_job_credential() throws IOException {
        String[] argv = {"srun", "--jobid=" + job, "--overlap", "-N1", "-n1", "-w", target.name(), "-D", "/", "id", "-u"
        };
        int logged = slurmdLog().length();
        for (String uid : List.of("root", "slurm", "bob")) {
            assertThat(forged(uid, argv).err()).as(uid).contains("Access/permission denied");
        }
        assertThat(slurmdLog().substring(logged)).doesNotContain("launch task");
        assertThat(forged("alice", argv).out()).isEqualTo(UID + "\n");
        assertThat(slurmdLog().substring(logged))
                .contains("launch task StepId=" + job, "request from UID:" + UID + " ");
    }

    @Test
    void a_file_is_written_as_the_uid_that_an_sbcast_credential_names() throws IOException {
        for (String uid : ALL) {
            LabCommand.Output sent =
                    forged(uid, "env", "SLURM_JOB_ID=" + job, "sbcast", "-f", "/etc/hostname", "/tmp/copy-of-" + uid);
            assertThat(sent.exit() == 0).as("%s: %s", uid, sent).isEqualTo(uid.equals("alice"));
        }
        assertThat(slurmdLog())
                .contains("Security violation: sbcast cred from " + UID + "/" + UID + " but rpc from 0/0");
        assertThat(target.command("find", "/tmp", "-name", "copy-of-*", "-printf", "%f %u\\n")
                        .succeed())
                .isEqualTo("copy-of-alice alice\n");
    }

    /** scancel sends to slurmd itself what is no end in order. */
    @Test
    void a_step_is_signalled_and_ended_by_its_user_and_slurms_own() throws IOException {
        assertThat(forged("root", "scontrol", "setdebug", "debug", "nodes=" + target.name())
                        .exit())
                .isZero();
        Path signals = home.resolve("signals-1");
        int logged = slurmdLog().length();
        assertThat(forged("bob", "scancel", "-s", "USR1", step).exit()).isNotZero();
        awaitLogged(logged, refused("_rpc_signal_tasks: "));
        // scancel keeps this refusal to itself.
        forged("bob", "scancel", "-s", "KILL", step);
        awaitLogged(logged, refused("kill req "));
        assertThat(signals).doesNotExist();
        assertThat(stepNamed("perl")).isEqualTo(step);
        String all = "";
        for (String uid : OWN) {
            assertThat(forged(uid, "scancel", "-s", "USR1", step).exit())
                    .as(uid)
                    .isZero();
            all += "USR1\n";
            String expected = all;
            local.await(
                    uid + "'s signal",
                    LIMIT,
                    () -> Files.exists(signals) && Files.readString(signals).equals(expected));
            String another = startStep(uid);
            assertThat(forged(uid, "scancel", "-s", "KILL", another).exit())
                    .as(uid)
                    .isZero();
            local.await(
                    "the end of " + another, LIMIT, () -> stepNamed("of-" + uid).isEmpty());
        }
        assertThat(forged("root", "scontrol", "setdebug", "info", "nodes=" + target.name())
                        .exit())
                .isZero();
    }

    /** Starts a step whose task runs: slurmd 26.05 forgets a signal that comes before. */
    private String startStep(String name) throws IOException {
        String started = "started-" + name;
        String line = "setsid --fork srun --jobid=%d -J of-%s --overlap -N1 -n1 -w %s -D / sh -c '%s' >/dev/null 2>&1"
                .formatted(
                        job, name, target.name(), ">" + ClusterUser.ALICE.home() + "/" + started + "; exec sleep 300");
        assertThat(forged("alice", "sh", "-c", line + " </dev/null").exit()).isZero();
        local.await(
                "a step of " + name,
                LIMIT,
                () -> Files.exists(home.resolve(started))
                        && !stepNamed("of-" + name).isEmpty());
        return stepNamed("of-" + name);
    }

    private String stepNamed(String name) throws IOException {
        return local.root()
                .succeed("squeue", "-h", "--steps", "-j", Long.toString(job), "-o", "%i %j")
                .lines()
                .filter(line -> line.endsWith(" " + name))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .findFirst()
                .orElse("");
    }

    @Test
    void what_slurmd_logs_is_changed_by_slurms_own_alone() throws IOException {
        for (String uid : SLURMS_OWN) {
            int logged = slurmdLog().length();
            assertThat(forged(uid, "scontrol", "setdebug", "debug", "nodes=" + target.name())
                            .exit())
                    .isZero();
            assertThat(forged(uid, "scontrol", "setdebugflags", "+steps", "nodes=" + target.name())
                            .exit())
                    .isZero();
            awaitLogged(logged, "Set DebugFlags to Steps");
            assertThat(forged(uid, "scontrol", "setdebugflags", "-steps", "nodes=" + target.name())
                            .exit())
                    .isZero();
            assertThat(forged(uid, "scontrol", "setdebug", "info", "nodes=" + target.name())
                            .exit())
                    .isZero();
        }
        for (String uid : List.of("alice", "bob")) {
            int logged = slurmdLog().length();
            assertThat(forged(uid, "scontrol", "setdebug", "debug", "nodes=" + target.name())
                            .exit())
                    .isNotZero();
            assertThat(forged(uid, "scontrol", "setdebugflags", "+steps", "nodes=" + target.name())
                            .exit())
                    .isNotZero();
            awaitLogged(logged, "Security violation, REQUEST_SET_DEBUG_LEVEL from uid");
            awaitLogged(logged, "Security violation, REQUEST_SET_DEBUG_FLAGS from uid");
        }
    }

    @Test
    void a_steps_output_goes_to_its_user_and_slurms_own() throws IOException {
        for (String uid : OWN) {
            assertThat(forged(uid, "timeout", "1", "sattach", step).out())
                    .as(uid)
                    .contains("alive-1\n");
        }
        int logged = slurmdLog().length();
        assertThat(forged("bob", "timeout", "1", "sattach", step).out()).isEmpty();
        awaitLogged(logged, "uid " + OTHER_UID + " attempt to attach to StepId=" + step + " owned by " + UID);
    }

    @Test
    void a_steps_usage_and_processes_are_its_users_and_slurms_own() throws IOException {
        for (String uid : OWN) {
            assertThat(forged(uid, "sstat", "-nP", "-o", "NTasks", "-j", step).out())
                    .as(uid)
                    .isEqualTo("2\n");
            assertThat(forged(uid, "sstat", "-nPi", "-j", step).out())
                    .as(uid)
                    .containsPattern("(?m)^" + step + "\\|" + target.name() + "\\|[0-9]");
        }
        int logged = slurmdLog().length();
        assertThat(forged("bob", "sstat", "-nPi", "-j", step).out()).doesNotContain(target.name());
        awaitLogged(logged, refused("stat_jobacct "));
    }

    @Test
    void any_uid_gets_the_job_of_a_process_and_the_state_of_slurmd() throws IOException {
        String process =
                target.command("pgrep", "-n", "-f", "step.pl").succeed().strip();
        for (String uid : ALL) {
            assertThat(forged(uid, "env", "SLURMD_NODENAME=" + target.name(), "scontrol", "pidinfo", process)
                            .out())
                    .as(uid)
                    .containsPattern("JobId=" + job + "(\\.0)? ");
            assertThat(forged(uid, "env", "SLURMD_NODENAME=" + target.name(), "scontrol", "show", "slurmd")
                            .out())
                    .as(uid)
                    .contains(step)
                    .containsPattern("Hostname += " + target.name() + "\n");
        }
    }

    @Test
    void the_job_of_a_connection_is_named_to_its_user_and_slurms_own() throws IOException {
        String[] own = connection.split(" ", 3);
        for (String uid : ALL) {
            LabCommand.Output answer = forged(uid, "scontrol", "callerid", own[0], own[1], own[2], "7777", "4");
            assertThat(answer.out().contains(Long.toString(job)))
                    .as("%s: %s, %s", uid, connection, answer)
                    .isEqualTo(!uid.equals("bob"));
        }
    }

    @Test
    void there_is_no_step_manager_that_answers() throws IOException {
        for (String uid : ALL) {
            int logged = slurmdLog().length();
            LabCommand.Output answer = forged(
                    uid, "env", "SLURM_STEPMGR=" + target.name(), "srun", "--jobid=" + job, "-N1", "-D", "/", "true");
            assertThat(answer.exit()).as(uid).isNotZero();
            awaitLogged(
                    logged,
                    "failed to return step rpc:REQUEST_HET_JOB_ALLOC_INFO job:StepId=" + job + "\\.extern"
                            + "|_stepmgr_connect to StepId=" + job + "\\.extern failed");
        }
    }
}
