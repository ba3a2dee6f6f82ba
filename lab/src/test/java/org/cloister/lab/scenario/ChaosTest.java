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
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Poll;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * slurmctld, slurmdbd and agent-vm are killed at random, and jobs end as on a quiet cluster. What slurmctld answers and has not
 * written down when it is killed is lost, on a plain cluster, too: of a start or an end that it forgot, the job runs
 * again, and a scancel has to be said again. No other kill has a job run twice.
 */
@Tag("scenario")
@Tag("slurm")
@Timeout(1800)
@ExtendWith(SharedLocalSlurm.class)
class ChaosTest {
    private static final int WHOLE = 200;
    private static final int SAMPLE = 24;
    /** A kill for so many jobs. */
    private static final int JOBS_A_KILL = 5;

    /** Above what the hosts hold, so that tickets wait, too. */
    private static final int QUOTA = 16;

    private static final int LAUNCH_MS = 5_000;
    private static final int END_MS = 5_000;
    private static final int MAX_PAUSE_MS = 3_000;
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final int STATE = 1;
    private static final int REASON = 2;
    private static final int FEATURES = 3;
    private static final int NAME = 4;

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Path SCRIPT =
            Path.of(System.getProperty("cloister.root"), "lab/src/test/resources/chaos/job.sh");

    /** The script's end by the signal may come after a restart of slurmctld. */
    private static final String CANCEL = "CANCELLED 0:(0|15)";

    /**
     * The script's end may be all that slurmctld knows, seen on a plain cluster, too; or that the job runs on a node which was taken
     * away when it was cancelled.
     */
    private static final String FORGOTTEN_CANCEL = CANCEL + "|FAILED 15:0|NODE_FAIL 0:0";

    private final boolean whole = Boolean.getBoolean("cloister.sweep.all");
    private final Random random = new Random(ScenarioSeed.of("chaos"));
    private final List<ChaosJob> jobs = ChaosJob.draw(whole ? WHOLE : SAMPLE, random);
    private final String name = "chaos-" + ProcessHandle.current().pid();
    private final ExecutorService beside = Executors.newSingleThreadExecutor();
    private final Map<ChaosJob, Long> numbers = new LinkedHashMap<>();

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final ClusterLogin alice;
    private final Path folder;

    ChaosTest(SlurmPairFixture stage) {
        this.stage = stage;
        this.local = stage.local();
        this.alice = local.as(ClusterUser.ALICE);
        this.folder = local.homes().resolve("alice/chaos");
    }

    @BeforeEach
    void write_script() throws IOException {
        alice.succeed("bash", "-c", "rm -rf chaos && mkdir chaos");
        Files.copy(SCRIPT, folder.resolve("job.sh"));
    }

    @AfterEach
    void tearDown() throws IOException {
        beside.shutdownNow();
        for (String[] job : remainingJobs()) {
            local.root().run("scancel", job[0]);
        }
    }

    @Test
    @RotatedScenario(8)
    void jobs_end_as_on_a_quiet_cluster_whatever_is_killed() throws Exception {
        long from = System.nanoTime();
        try (ControllerProcess controller = stage.startController(QUOTA)) {
            JobTraces traces = new JobTraces(stage, controller);
            submit();
            DaemonKillStorm kills = new DaemonKillStorm(local, controller, random);
            long seed = random.nextLong();
            Future<Map<ChaosJob, DaemonKillStorm.Span>> cancels = beside.submit(() -> cancel(new Random(seed)));
            kills.blow(jobs.size() / JOBS_A_KILL, () -> remainingJobs().isEmpty());
            System.out.println("chaos: " + kills + " within "
                    + Duration.ofNanos(System.nanoTime() - from).toSeconds() + " s");
            Map<ChaosJob, DaemonKillStorm.Span> cancelled = cancels.get();
            cancelAgain(kills, cancelled);
            awaitEnds(traces, kills, cancelled);
            traces.awaitNone(LIMIT);
            check(kills, cancelled);
            System.out.println("chaos: " + jobs.size() + " jobs in "
                    + Duration.ofNanos(System.nanoTime() - from).toSeconds() + " s");
        }
    }

    /**
     * slurmctld has all of them on its drive when this returns, as it has what slurmdbd told it: without that it does not
     * start while slurmdbd is away, on a plain cluster, too.
     */
    private void submit() throws IOException {
        for (ChaosJob job : jobs) {
            numbers.put(
                    job,
                    Long.parseLong(alice.succeed("bash", "-c", "cd chaos && " + job.submission(name))
                            .strip()));
        }
        local.reconfigure();
        local.terminateController();
        local.startController();
    }

    /** @return when Slurm answered */
    private Map<ChaosJob, DaemonKillStorm.Span> cancel(Random pauses) throws IOException, InterruptedException {
        Map<ChaosJob, DaemonKillStorm.Span> answered = new LinkedHashMap<>();
        for (ChaosJob job : jobs) {
            if (job.kind() == ChaosJob.Kind.CANCELLED) {
                TimeUnit.MILLISECONDS.sleep(pauses.nextInt(MAX_PAUSE_MS));
                LabCommand scancel =
                        alice.command(List.of("bash", "-c", "until scancel " + number(job) + "; do sleep 0.2; done"));
                long from = System.currentTimeMillis();
                scancel.within(LIMIT).succeed();
                answered.put(job, new DaemonKillStorm.Span(from, System.currentTimeMillis()));
            }
        }
        return answered;
    }

    private void cancelAgain(DaemonKillStorm kills, Map<ChaosJob, DaemonKillStorm.Span> answered) throws IOException {
        for (Map.Entry<ChaosJob, DaemonKillStorm.Span> each : answered.entrySet()) {
            String number = Long.toString(number(each.getKey()));
            if (!alice.succeed(
                            "squeue",
                            "-h",
                            "-t",
                            "PENDING,RUNNING",
                            "-n",
                            name + "-" + each.getKey().number())
                    .isBlank()) {
                assertThat(kills.mayHaveForgotten(each.getValue()))
                        .as(
                                "scancel %s was forgotten: said at %s, %s%n%s",
                                number, each.getValue(), kills, story(number))
                        .isTrue();
                System.out.println("chaos: slurmctld forgot scancel " + number);
                alice.succeed("scancel", number);
            }
        }
    }

    /**
     * What is requeued would wait for two minutes when agent-vm has seen to it. A job whose end is forgotten would run until its
     * time limit, on a plain cluster, too, if no administrator had the nodes say again what runs there.
     */
    private void awaitEnds(JobTraces traces, DaemonKillStorm kills, Map<ChaosJob, DaemonKillStorm.Span> cancelled)
            throws IOException {
        Poll.until("the end of all jobs", LIMIT, "read " + traces.log(), PAUSE, () -> {
            List<String[]> left = remainingJobs();
            for (String[] job : left) {
                if (job[REASON].equals("BeginTime") && job[FEATURES].equals(LocalSlurm.UNPLACED)) {
                    local.root().run("scontrol", "update", "jobid=" + job[0], "starttime=now");
                }
            }
            Set<String> ended = marks().stream()
                    .filter(mark -> mark.what().equals("end") && kills.mayHaveForgotten(mark.span()))
                    .map(Mark::key)
                    .collect(Collectors.toSet());
            if (left.stream().anyMatch(job -> job[STATE].equals("RUNNING") && ended.contains(key(job)))) {
                local.root().run("scontrol", "reconfigure");
            }
            return left.isEmpty();
        });
        Map<String, Long> ends = endTimes(cancelled);
        traces.await(
                "ends in accounting",
                LIMIT,
                () -> remembered(kills).values().stream()
                        .allMatch(record -> record.isOver()
                                || kills.struckSlurmctldAfter(ends.getOrDefault(record.job(), Long.MAX_VALUE))));
    }

    /**
     * When each job and task that squeue names so had its end. What slurmctld has yet to tell slurmdbd of it is lost when both are
     * killed, and accounting has a runaway job; on a plain cluster, too.
     */
    private Map<String, Long> endTimes(Map<ChaosJob, DaemonKillStorm.Span> cancelled) throws IOException {
        Map<String, Long> times = marks().stream()
                .filter(mark -> mark.what().equals("end"))
                .collect(Collectors.toMap(Mark::key, Mark::ms, Math::max));
        Map<String, Long> ends = new LinkedHashMap<>();
        for (ChaosJob job : jobs) {
            for (ChaosJob.ExpectedEnd expected : job.endings()) {
                Optional<Long> end = Optional.ofNullable(cancelled.get(job)).map(DaemonKillStorm.Span::fromMs);
                end.or(() -> Optional.ofNullable(times.get(expected.key())))
                        .ifPresent(ms -> ends.put(number(job) + expected.task(), ms));
            }
        }
        return ends;
    }

    /** Of each job that has not ended: how squeue names it, its state, reason, features and name. */
    private List<String[]> remainingJobs() throws IOException {
        return local.root()
                .succeed("squeue", "-h", "-r", "-o", "%i|%T|%r|%f|%j")
                .lines()
                .map(line -> line.split("\\|", -1))
                .filter(job -> job[NAME].startsWith(name + "-"))
                .toList();
    }

    /** As the job's script calls itself. */
    private String key(String[] job) {
        String number = job[NAME].substring(name.length() + 1);
        int task = job[0].indexOf('_');
        return task < 0 ? number : number + "." + job[0].substring(task + 1);
    }

    /** What slurmctld says of a job. */
    private String story(String number) throws IOException {
        try (Stream<String> lines = Files.lines(local.head().log("slurmctld"))) {
            return lines.filter(line -> line.contains("=" + number + " ") || line.contains("Running as primary"))
                    .collect(Collectors.joining("\n"));
        }
    }

    private long number(ChaosJob job) {
        return Objects.requireNonNull(numbers.get(job));
    }

    private record Mark(String key, String what, long ms) {
        /** A script's first line comes some time after slurmctld's word that it starts, and slurmctld hears of its end some time later. */
        DaemonKillStorm.Span span() {
            return what.equals("begin")
                    ? new DaemonKillStorm.Span(ms - LAUNCH_MS, ms)
                    : new DaemonKillStorm.Span(ms, ms + END_MS);
        }
    }

    /** None before the first job has begun, which is after a storm that leaves none the time. */
    private List<Mark> marks() throws IOException {
        Path runs = folder.resolve("runs");
        if (!Files.exists(runs)) {
            return List.of();
        }
        return Files.readAllLines(runs).stream()
                .map(line -> line.split(" ", 3))
                .map(words -> new Mark(words[0], words[1], Long.parseLong(words[2])))
                .toList();
    }

    private void check(DaemonKillStorm kills, Map<ChaosJob, DaemonKillStorm.Span> cancelled) throws IOException {
        Map<String, List<Mark>> marks = marks().stream().collect(Collectors.groupingBy(Mark::key));
        Map<String, AccountingRecord> records = records(kills, marks);
        SoftAssertions all = new SoftAssertions();
        List<String> again = new ArrayList<>();
        for (ChaosJob job : jobs) {
            for (ChaosJob.ExpectedEnd expected : job.endings()) {
                String number = number(job) + expected.task();
                String what = job.kind() + " " + expected.key() + ", job " + number;
                all.assertThat(output(expected.key())).as(what).containsExactlyElementsOf(expected.output());
                List<Mark> runs = marks.getOrDefault(expected.key(), List.of());
                boolean isRequeued = runs.stream()
                                .filter(each -> each.what().equals("begin"))
                                .count()
                        > job.runs();
                if (isRequeued) {
                    again.add(number);
                    all.assertThat(runs).as(what + " ran again").anyMatch(each -> kills.mayHaveForgotten(each.span()));
                }
                String end = tearDown(kills, expected, Optional.ofNullable(cancelled.get(job)));
                AccountingRecord record = records.get(number);
                all.assertThat(record).as(what).isNotNull();
                if (record != null && !record.isOver()) {
                    System.out.println("chaos: accounting was not told the end of " + record);
                } else if (record != null) {
                    all.assertThat(record.state() + " " + record.exit())
                            .as(what)
                            .matches(end);
                }
            }
        }
        System.out.println("chaos: ran again, for slurmctld forgot their start or end: " + again);
        all.assertAll();
        assertThat(local.nodes("all")).as("nodes").isZero();
    }

    /** @param cancelled when it was, if it was */
    private static String tearDown(
            DaemonKillStorm kills, ChaosJob.ExpectedEnd expected, Optional<DaemonKillStorm.Span> cancelled) {
        return cancelled
                .map(at -> kills.mayHaveForgotten(at) ? FORGOTTEN_CANCEL : CANCEL)
                .orElse(expected.state() + " " + expected.exit());
    }

    /** Of each job the last; an array's task whose start accounting was not told is the one that has no record of its own. */
    private Map<String, AccountingRecord> records(DaemonKillStorm kills, Map<String, List<Mark>> marks)
            throws IOException {
        Map<String, AccountingRecord> records = remembered(kills);
        for (ChaosJob job : jobs) {
            List<ChaosJob.ExpectedEnd> missing = job.endings().stream()
                    .filter(expected -> !records.containsKey(number(job) + expected.task()))
                    .toList();
            if (missing.size() == 1 && kills.struckSlurmctldAfter(startMs(marks, missing.get(0)))) {
                AccountingRecord.untold(records.values(), number(job)).ifPresent(record -> {
                    System.out.println("chaos: accounting was not told the start of " + record);
                    records.put(number(job) + missing.get(0).task(), record);
                });
            }
        }
        return records;
    }

    /** Without those of a requeue that slurmctld told accounting of and then forgot: they never end. */
    private Map<String, AccountingRecord> remembered(DaemonKillStorm kills) throws IOException {
        return AccountingRecord.all(local, name).stream()
                .filter(record -> record.hasStarted()
                        || record.isOver()
                        || !kills.mayHaveForgotten(
                                new DaemonKillStorm.Span(record.submittedMs(), record.submittedMs() + 1000)))
                .collect(Collectors.toMap(
                        AccountingRecord::job, record -> record, (first, last) -> last, LinkedHashMap::new));
    }

    private static long startMs(Map<String, List<Mark>> marks, ChaosJob.ExpectedEnd expected) {
        return marks.getOrDefault(expected.key(), List.of()).stream()
                .filter(mark -> mark.what().equals("begin"))
                .mapToLong(mark -> mark.span().fromMs())
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private List<String> output(String key) throws IOException {
        Path file = folder.resolve("out-" + key);
        return Files.exists(file) ? Files.readAllLines(file).stream().sorted().toList() : List.of();
    }
}
