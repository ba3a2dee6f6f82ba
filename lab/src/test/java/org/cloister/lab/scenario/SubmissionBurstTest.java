package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Submissions in a burst, while agent-vm is stopped, while it runs, and while it is killed and started: each that sbatch took is
 * accounted for exactly once, each that it refused not at all.
 */
@Tag("scenario")
@Tag("slurm")
@Timeout(1200)
@RotatedScenario(9)
@ExtendWith(SharedLocalSlurm.class)
class SubmissionBurstTest {
    private static final int WHOLE = 1000;
    private static final int LEAST_SAMPLE = 100;
    private static final int SAMPLE_SPAN = 40;
    /** Of the submissions, one of so many runs to its end at least. */
    private static final int RUNNING_SHARE = 7;

    /** Of the submissions, one of so many is cancelled by its number. */
    private static final int ONE_BY_ONE = 9;

    private static final int KILLS = 3;
    private static final int MAX_PAUSE_MS = 400;
    /** Above what the hosts hold, so that tickets wait, too. */
    private static final int QUOTA = 16;

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final List<ClusterUser> LOOPS =
            List.of(ClusterUser.ALICE, ClusterUser.BOB, ClusterUser.ALICE, ClusterUser.BOB);

    private static final String PREPARE = """
            rm -rf burst && mkdir burst && cd burst && cat >job.sh <<'EOF'
            #!/bin/sh
            echo $SLURM_JOB_ID >>ran
            echo job $SLURM_JOB_ID of $USER
            EOF
            """;
    private static final String SUBMIT = """
            cd burst
            for ((i = 0; i < $1; i++)); do
                said=$(sbatch --parsable --job-name="$2" --mem-per-cpu=100 --time=5 --output=out-%j job.sh 2>&1)
                echo "$? ${said//$'\\n'/ }"
            done
            """;
    private static final Pattern ACCEPTED = Pattern.compile("0 ([1-9][0-9]*)");
    private static final Pattern STARTED_TICKET =
            Pattern.compile("\\b(asked|started) ticket=\\S+ job=([1-9][0-9]*)\\b");

    private final Random random = new Random(ScenarioSeed.of("burst"));
    private final int submissions =
            Boolean.getBoolean("cloister.sweep.all") ? WHOLE : LEAST_SAMPLE + random.nextInt(SAMPLE_SPAN);
    private final String name = "burst-" + ProcessHandle.current().pid();
    private final ExecutorService loops = Executors.newFixedThreadPool(LOOPS.size());
    /** Numbers, in the order in which each loop was told them. */
    private final List<AcceptedSubmissions> accepted = new ArrayList<>();

    private final List<String> refused = new ArrayList<>();
    /** Submissions of which a busy slurmctld said nothing within 10 s: it may have taken them. */
    private int unanswered;

    private final SlurmPairFixture stage;
    private final LabCluster local;

    private record AcceptedSubmissions(ClusterUser user, String job) {}

    SubmissionBurstTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
    }

    @BeforeEach
    void write_scripts() throws IOException {
        for (ClusterUser user : List.of(ClusterUser.ALICE, ClusterUser.BOB)) {
            local.as(user).succeed("bash", "-c", PREPARE);
        }
    }

    @AfterEach
    void tearDown() throws IOException {
        loops.shutdownNow();
        limitBob(-1);
        local.root().run("scancel", "--name=" + name);
    }

    @Test
    void each_submission_is_accounted_for_once_whatever_agent_vm_does() throws Exception {
        int part = submissions / 3;
        int limit = part / LOOPS.size();
        limitBob(limit);
        collect(submitAll(part));
        // Nothing has ended, so what bob has in the queue is his limit.
        assertThat(accepted)
                .filteredOn(each -> each.user().equals(ClusterUser.BOB))
                .hasSize(limit);
        assertThat(refused)
                .hasSize(part - accepted.size())
                .isNotEmpty()
                .allMatch(output -> output.contains("QOSMaxSubmit") || output.contains("AssocMaxSubmitJobLimit"));
        limitBob(-1);
        int refusals = refused.size();
        try (ControllerProcess controller = stage.startController(QUOTA)) {
            collect(submitAll(part));
            killWhileSubmitting(controller, submissions - 2 * part);
            JobTraces traces = new JobTraces(stage, controller);
            int enough = submissions / RUNNING_SHARE;
            traces.await(enough + " jobs' lines", LIMIT, () -> ran().size() >= enough);
            assertThat(refused).as("refused without a limit").hasSize(refusals);
            cancel(random.nextInt(ONE_BY_ONE));
            traces.awaitEnd(name, LIMIT);
            traces.awaitNone(LIMIT);
            traces.await(
                    "ends in accounting",
                    LIMIT,
                    () -> AccountingRecord.all(local, name).stream().allMatch(AccountingRecord::isOver));
            check(controller);
        }
    }

    /** Side by side, as many for each loop, the first ones one more. */
    private List<Future<List<String>>> submitAll(int many) {
        List<Future<List<String>>> submissions = new ArrayList<>();
        for (int loop = 0; loop < LOOPS.size(); loop++) {
            ClusterUser user = LOOPS.get(loop);
            int share = many / LOOPS.size() + (loop < many % LOOPS.size() ? 1 : 0);
            submissions.add(loops.submit(() -> local.as(user)
                    .command(List.of("bash", "-c", SUBMIT, "submit", Integer.toString(share), name))
                    .within(LIMIT)
                    .succeed()
                    .lines()
                    .toList()));
        }
        return submissions;
    }

    private void collect(List<Future<List<String>>> submissions) throws Exception {
        for (int loop = 0; loop < submissions.size(); loop++) {
            for (String line : submissions.get(loop).get()) {
                Matcher number = ACCEPTED.matcher(line);
                if (number.matches()) {
                    accepted.add(new AcceptedSubmissions(LOOPS.get(loop), number.group(1)));
                } else if (line.contains("timed out")) {
                    unanswered++;
                } else {
                    refused.add(line);
                }
            }
        }
    }

    private void killWhileSubmitting(ControllerProcess controller, int many) throws Exception {
        for (int kill = 0; kill < KILLS; kill++) {
            List<Future<List<String>>> submissions = submitAll(many / KILLS + (kill < many % KILLS ? 1 : 0));
            pause();
            controller.kill();
            pause();
            controller.restart();
            collect(submissions);
        }
    }

    private void pause() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(MAX_PAUSE_MS));
    }

    /** Some by their numbers, one by one, while others start and end; the rest of those that wait at once. */
    private void cancel(int rest) throws IOException {
        for (ClusterUser user : List.of(ClusterUser.ALICE, ClusterUser.BOB)) {
            String numbers = accepted.stream()
                    .filter(each -> each.user().equals(user) && Long.parseLong(each.job()) % ONE_BY_ONE == rest)
                    .map(AcceptedSubmissions::job)
                    .collect(Collectors.joining(" "));
            local.as(user)
                    .command(List.of("bash", "-c", "for job in $1; do scancel $job; done", "cancel", numbers))
                    .within(LIMIT)
                    .run();
            local.as(user).succeed("scancel", "--user=" + user.name(), "--state=PENDING", "--name=" + name);
        }
    }

    /** Numbers of the jobs that began, as each wrote itself. */
    private List<String> ran() throws IOException {
        List<String> jobsRun = new ArrayList<>();
        for (ClusterUser user : List.of(ClusterUser.ALICE, ClusterUser.BOB)) {
            Path file = folder(user).resolve("ran");
            if (Files.exists(file)) {
                jobsRun.addAll(Files.readAllLines(file));
            }
        }
        return jobsRun;
    }

    private Path folder(ClusterUser user) {
        return local.homes().resolve(user.name()).resolve("burst");
    }

    private void limitBob(int jobs) throws IOException {
        local.root().succeed("sacctmgr", "-i", "modify", "user", "bob", "set", "MaxSubmitJobs=" + jobs);
    }

    private void check(ControllerProcess controller) throws IOException {
        List<AccountingRecord> records = AccountingRecord.all(local, name);
        assertThat(accepted).hasSize(submissions - refused.size() - unanswered);
        List<String> accounted = records.stream().map(AccountingRecord::job).toList();
        assertThat(accounted).doesNotHaveDuplicates();
        assertThat(accounted)
                .containsAll(accepted.stream().map(AcceptedSubmissions::job).toList());
        assertThat(accounted.size() - accepted.size()).as("without an answer").isBetween(0, unanswered);
        List<String> jobsRun = ran();
        assertThat(jobsRun).doesNotHaveDuplicates();
        Set<String> completed = jobs(records, "COMPLETED 0:0");
        Set<String> cancelled = jobs(records, "CANCELLED 0:0");
        assertThat(completed.size() + cancelled.size())
                .as("completed and cancelled: %s", records)
                .isEqualTo(records.size());
        assertThat(jobsRun).containsAll(completed);
        for (AcceptedSubmissions job : accepted) {
            Path output = folder(job.user()).resolve("out-" + job.job());
            if (completed.contains(job.job())) {
                assertThat(output)
                        .hasContent("job " + job.job() + " of " + job.user().name() + "\n");
            }
        }
        Set<String> submitted = new HashSet<>();
        Set<String> started = new HashSet<>();
        Matcher line = STARTED_TICKET.matcher(Files.readString(controller.log()));
        while (line.find()) {
            (line.group(1).equals("asked") ? submitted : started).add(line.group(2));
        }
        long inFlight = cancelled.stream()
                .filter(submitted::contains)
                .filter(job -> !started.contains(job))
                .count();
        long waiting =
                cancelled.stream().filter(job -> !submitted.contains(job)).count();
        System.out.println("burst: submissions=" + submissions + " refused=" + refused.size() + " unanswered="
                + unanswered + " completed="
                + completed.size() + " cancelled=" + cancelled.size() + " of these waiting=" + waiting
                + " with a ticket in flight=" + inFlight);
        assertThat(inFlight).as("cancelled with a ticket in flight").isPositive();
        assertThat(waiting).as("cancelled without a ticket").isPositive();
    }

    private static Set<String> jobs(List<AccountingRecord> records, String suffix) {
        return records.stream()
                .filter(each -> (each.state() + " " + each.exit()).equals(suffix))
                .map(AccountingRecord::job)
                .collect(Collectors.toSet());
    }
}
