package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.lab.localslurm.SubmitTimings;
import org.cloister.lab.localslurm.TimedJobs;

/**
 * Measures a Local Slurm, with its controller and with namespaces as workers, compared with a plain Slurm of as many
 * static nodes of the same shape: the delay between a job's node and its first line, the duration of many short jobs,
 * and the cost of the submit plugin.
 */
@SuppressWarnings("try") // a controller is only there to be used by the jobs
final class SlurmBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-slurm");
    /** Tickets in flight, as many as the plain cluster has nodes. */
    private static final int QUOTA = SlurmPairFixture.SHAPE.hosts();

    private static final int STARTS = 100;
    private static final double START_S = 2;
    private static final int JOBS = 200;
    /**
     * Seconds that a job of the throughput sleeps: 0, which shows Slurm's and our own time alone, and the duration of a
     * short job.
     */
    private static final int[] SLEEPS_S = {0, 5};

    private static final int SUBMISSIONS = 200;
    private static final double SCRIPT_MS = 1;
    private static final double MILLISECONDS = 1e3;
    private static final Path COMPILER = Path.of("/usr/bin/gcc");

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        try (SlurmPairFixture stage = SlurmPairFixture.up(home, NAME, LabRelease.own())) {
            try (ControllerProcess controller = stage.startController(QUOTA)) {
                starts(stage, figures);
                for (int sleep : SLEEPS_S) {
                    throughput(stage, sleep, figures);
                }
                stage.awaitNoTickets();
            }
            submissions(stage, figures);
        }
    }

    /**
     * Measures starts one after the other, on two nodes each. The plain cluster's nodes are idle all the time: its
     * figure is from the submission.
     */
    private static void starts(SlurmPairFixture stage, BenchFigures figures) throws IOException {
        TimedJobs ours = new TimedJobs(stage.local(), ClusterUser.ALICE, "starts");
        TimedJobs peer = new TimedJobs(stage.plain(), ClusterUser.ALICE, "starts");
        double[] registered = new double[STARTS];
        double[] submitted = new double[STARTS];
        for (int i = 0; i < STARTS; i++) {
            TimedJobs.JobStart job = ours.run(1, 0, 2).jobs().get(0);
            registered[i] = job.firstLine() - stage.workers().registrationTime(job.nodes());
            TimedJobs.Series plain = peer.run(1, 0, 2);
            submitted[i] = plain.jobs().get(0).firstLine() - plain.submitted();
        }
        figures.p99Within("start", registered, START_S, "s");
        figures.times("start_plain", registered, submitted);
    }

    /** Measures jobs that are submitted all at once, each on a whole node. */
    private static void throughput(SlurmPairFixture stage, int sleep, BenchFigures figures) throws IOException {
        String what = "sleep" + sleep;
        TimedJobs.Series ours = new TimedJobs(stage.local(), ClusterUser.ALICE, what).run(JOBS, sleep, 1);
        TimedJobs.Series peer = new TimedJobs(stage.plain(), ClusterUser.ALICE, what).run(JOBS, sleep, 1);
        figures.times("throughput_" + what, new double[] {ours.seconds()}, new double[] {peer.seconds()});
        List<Double> starts = new ArrayList<>();
        for (TimedJobs.JobStart job : ours.jobs()) {
            starts.add(job.firstLine() - stage.workers().registrationTime(job.nodes()));
        }
        figures.p99Within(
                "start_" + what, starts.stream().mapToDouble(each -> each).toArray(), START_S, "s");
    }

    /** Measures submissions of held jobs, so that nothing else happens; the queue grows with each. */
    private static void submissions(SlurmPairFixture stage, BenchFigures figures) throws IOException {
        if (!Files.isExecutable(COMPILER)) {
            System.err.println("bench slurm: no " + COMPILER + ": the time inside slurmctld is not measured");
            return;
        }
        SubmitTimings times = SubmitTimings.preload(stage.local());
        ClusterLogin ours = stage.local().as(ClusterUser.ALICE);
        ClusterLogin peer = stage.plain().as(ClusterUser.ALICE);
        double[] withPlugin = new double[SUBMISSIONS];
        double[] without = new double[SUBMISSIONS];
        for (int i = 0; i < SUBMISSIONS; i++) {
            withPlugin[i] = submission(ours);
            without[i] = submission(peer);
        }
        figures.p99Within("script", milliseconds(times.seconds("submit", SubmitTimings.Phase.SCRIPT)), SCRIPT_MS, "ms");
        double[] whole = milliseconds(times.seconds("submit", SubmitTimings.Phase.WHOLE));
        figures.alone("plugin", whole, "ms");
        figures.alone("plugin_p99", new double[] {BenchFigures.quantile(whole, 0.99)}, "ms");
        figures.times("submission", withPlugin, without);
        ours.succeed("scancel", "--me");
        peer.succeed("scancel", "--me");
    }

    /** Returns the seconds for which a user waits for sbatch. */
    private static double submission(ClusterLogin user) throws IOException {
        long from = System.nanoTime();
        user.submit("true", "--hold", "--output=/dev/null");
        return (System.nanoTime() - from) / 1e9;
    }

    private static double[] milliseconds(double[] seconds) {
        return Arrays.stream(seconds).map(each -> each * MILLISECONDS).toArray();
    }
}
