package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;
import org.cloister.lab.SlurmCommandWrappers.SbatchBehaviour;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.slurm.GlobalSlurmCommands;
import org.cloister.relay.slurm.GlobalSlurmContract;
import org.cloister.relay.slurm.GlobalSlurmSettings;
import org.cloister.relay.slurm.JobSubmission;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The real Slurm, with accounting, keeps what the relay's tickets need of it, however its answers come. */
@Tag("scenario")
@Tag("slurm")
@Timeout(120)
@RotatedScenario(7)
@ExtendWith(SharedLab.class)
@DrawnRelease
class GlobalSlurmTest extends GlobalSlurmContract {
    private static final String ACCOUNT = "climate";
    private static final Duration SLURM_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration SHORT = Duration.ofSeconds(2);

    private final Lab lab;
    private final SlurmCommandWrappers programs;
    private final Path ends;
    private boolean answers = true;

    GlobalSlurmTest(Lab lab) throws IOException {
        this.lab = lab;
        lab.slurm().account(ACCOUNT);
        this.programs = lab.slurm().programs();
        this.ends = Files.createDirectories(programs.folder().resolve("ends"));
    }

    /** A step that waits for its end to be written, and ends so. */
    @BeforeEach
    void write_the_step() throws IOException {
        Path next = ends.resolve(".step");
        Files.writeString(next, """
                #!/bin/sh
                echo "$SLURMD_NODENAME $SLURM_PROCID" >>%1$s/ran-$1
                while [ ! -e %1$s/end-$1 ]; do sleep 0.1; done
                exit $(cat %1$s/end-$1)
                """.formatted(ends));
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(next, ends.resolve("step"), StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    protected GlobalSlurm slurm() {
        return slurm(answers ? SLURM_TIMEOUT : SHORT);
    }

    private GlobalSlurmCommands slurm(Duration limit) {
        return new GlobalSlurmCommands(new GlobalSlurmSettings(
                Optional.of(programs.folder()),
                Optional.empty(),
                "root",
                new GlobalPartitions("secure", Optional.empty()),
                List.of(ends.resolve("step").toString()),
                limit));
    }

    @Override
    protected String account() {
        return ACCOUNT;
    }

    @Override
    protected void pass() {
        BridgeFixture.sleep(100);
    }

    @Override
    protected void endSteps(String ticket, boolean well) throws IOException {
        Files.writeString(ends.resolve("end-" + ticket), well ? "0" : "3");
    }

    @Override
    protected void breakNode(String node) throws IOException {
        lab.slurm().killSlurmd(node);
        lab.slurm().client("scontrol", "update", "nodename=" + node, "state=down", "reason=lab");
    }

    @Override
    protected void repair(String node) throws IOException {
        lab.slurm().startSlurmd(node);
        Poll.until(
                "two idle nodes",
                Duration.ofSeconds(30),
                "read the lab's logs",
                () -> lab.slurm().idleNodes() == 2);
    }

    @Override
    protected void stopAnswering() throws IOException {
        lab.slurm().terminateController();
        answers = false;
    }

    @Override
    protected void answerAgain() throws IOException {
        answers = true;
        lab.slurm().startController();
    }

    @Test
    void a_step_runs_once_on_each_node_however_many_tasks_the_ticket_has() throws IOException {
        String ticket = ticket();
        slurm().submit(new JobSubmission(
                "secure",
                ticket,
                ACCOUNT,
                2,
                OptionalInt.of(3),
                1,
                OptionalInt.of(2),
                100,
                false,
                Duration.ofMinutes(5),
                List.of()));
        Path marker = ends.resolve("ran-" + ticket);
        for (int attempt = 0;
                attempt < 100
                        && (!Files.exists(marker) || Files.readAllLines(marker).size() < 2);
                attempt++) {
            pass();
        }
        endSteps(ticket, true);
        awaitState(ticket, GlobalJobState.COMPLETED);
        assertThat(Files.readAllLines(marker)).containsExactlyInAnyOrder("h1 0", "h2 1");
    }

    @Test
    void an_sbatch_that_answers_late_or_wrongly_leaves_one_job_that_is_found() throws IOException {
        for (SbatchBehaviour answer : List.of(SbatchBehaviour.ENQUEUED_AND_LATE, SbatchBehaviour.ENQUEUED_AND_FAILED)) {
            String ticket = ticket();
            programs.sbatch(answer);
            try {
                assertThatThrownBy(() -> slurm(SHORT).submit(submission(ticket, 1, false, 10)))
                        .isInstanceOf(SlurmUnavailableException.class);
            } finally {
                programs.sbatch(SbatchBehaviour.AT_ONCE);
            }
            await("the job is seen", jobs -> !of(ticket, jobs).isEmpty());
            assertThat(of(ticket, slurm().jobs())).hasSize(1);
        }
    }

    @Test
    void a_request_that_slurmctld_reads_after_its_sbatch_was_killed_is_waited_for() throws IOException {
        String ticket = ticket();
        lab.slurm().stopController();
        try {
            assertThatThrownBy(() -> slurm(SHORT).submit(submission(ticket, 1, false, 10)))
                    .isInstanceOf(SlurmUnavailableException.class)
                    .hasMessageContaining("no answer");
            assertThatThrownBy(() -> slurm(SHORT).jobs()).isInstanceOf(SlurmUnavailableException.class);
        } finally {
            lab.slurm().continueController();
        }
        await("it is enqueued after all", jobs -> !of(ticket, jobs).isEmpty());
        assertThat(of(ticket, slurm().jobs())).hasSize(1);
        awaitState(ticket, GlobalJobState.RUNNING);
    }

    @Test
    void slurm_knows_resources_and_the_tickets_id_and_nothing_of_who_asked() throws IOException {
        String ticket = ticket();
        long id = slurm().submit(submission(ticket, 1, false, 10));
        awaitState(ticket, GlobalJobState.RUNNING);
        String output = lab.slurm().client("scontrol", "show", "job", "-d", Long.toString(id));
        String script = lab.slurm().client("scontrol", "write", "batch_script", Long.toString(id), "-");
        endSteps(ticket, true);
        awaitState(ticket, GlobalJobState.COMPLETED);
        lab.slurm().terminateController();
        lab.slurm().startController();

        // From 25.11 on Slurm shows the relay's own command line, too.
        assertThat(output.lines()
                        .map(String::strip)
                        .filter(line -> line.contains(ticket) && !line.startsWith("SubmitLine=")))
                .containsExactlyInAnyOrder("JobId=" + id + " JobName=" + ticket, "Comment=" + ticket);
        assertThat(script.strip())
                .isEqualTo("#!/bin/sh\nunset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK\nexec "
                        + programs.folder().resolve("srun")
                        + " --nodes=1 --ntasks=1 --ntasks-per-node=1 --mem=0 --kill-on-bad-exit=1 "
                        + ends.resolve("step") + " " + ticket);
        List<String> everywhere =
                new ArrayList<>(List.of(output, script, lab.slurm().accountingRows()));
        for (Path folder : lab.slurm().folders()) {
            everywhere.addAll(texts(folder));
        }
        // The search does find: the id is in slurmctld's state and in accounting's tables.
        assertThat(everywhere.subList(2, 3)).allMatch(text -> text.contains(ticket));
        assertThat(everywhere.subList(3, everywhere.size())).anyMatch(text -> text.contains(ticket));
        for (String marker : markers()) {
            assertThat(everywhere).noneMatch(text -> text.contains(marker));
        }
    }

    @Test
    void doctor_tells_the_lines_that_an_account_lacks_and_they_are_right() throws IOException {
        String fresh = "a" + ticket().substring(0, 8);
        String output = doctor("slurm-accounts", "--account=" + ACCOUNT, "--account=" + fresh);
        assertThat(output)
                .contains("failure  slurm-accounts  no account " + fresh)
                .contains("mend: sacctmgr -i add account " + fresh
                        + " cluster=global; sacctmgr -i add user root account=" + fresh + " cluster=global");
        for (String line : output.strip().replaceFirst(".*mend: ", "").split("; ", -1)) {
            List<String> arguments = List.of(line.split(" ", -1));
            lab.slurm().client(arguments.toArray(String[]::new));
        }
        assertThat(doctor("slurm-accounts", "--account=" + ACCOUNT, "--account=" + fresh))
                .isEqualTo("ok  slurm-accounts  root may charge " + ACCOUNT + ", " + fresh + "\n");
    }

    @Test
    void doctor_tells_of_a_partition_that_ends_controlling_vms_and_how_to_mend_it() throws IOException {
        String well = "ok  slurm-controllers  controllers is UP, without time limit\n";
        assertThat(doctor("slurm-controllers", "--controllers=controllers")).isEqualTo(well);
        assertThat(doctor("slurm-controllers", "--controllers=none-such"))
                .contains("failure  slurm-controllers  Slurm has no partition none-such");
        lab.slurm().client("scontrol", "update", "PartitionName=controllers", "MaxTime=90");
        try {
            assertThat(doctor("slurm-controllers", "--controllers=controllers"))
                    .contains("warning  slurm-controllers  controllers ends jobs after 01:30:00")
                    .contains("mend: scontrol update PartitionName=controllers MaxTime=UNLIMITED");
        } finally {
            lab.slurm().client("scontrol", "update", "PartitionName=controllers", "MaxTime=UNLIMITED");
        }
        assertThat(doctor("slurm-controllers", "--controllers=controllers")).isEqualTo(well);
    }

    private String doctor(String check, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "org.cloister.ctl.Agentctl",
                "doctor",
                "--role=relay",
                "--user=root",
                "--check=" + check));
        argv.addAll(List.of(arguments));
        return LabCommand.of(argv)
                .with(Map.of("PATH", programs.folder() + ":/usr/bin:/bin"))
                .run()
                .out();
    }

    /** What this process has of its own and hands to no program: environment and working folder. */
    /** Of our folder and of our environment; other variables may hold what the site itself has written, such as paths. */
    private static List<String> markers() {
        return List.of(System.getProperty("user.dir"), System.getenv("ASKER"));
    }

    private static List<String> texts(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<String> texts = new ArrayList<>();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                texts.add(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
            return texts;
        }
    }
}
