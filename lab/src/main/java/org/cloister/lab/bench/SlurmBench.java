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
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.lab.localslurm.SubmitTimings;
import org.cloister.lab.localslurm.TimedJobs;

/**
 * A Local Slurm, with its controller and with namespaces as workers, beside a plain Slurm of as many static nodes of the same
 * shape: what a job loses between its node and its first line, what many short jobs take, and what the submit plugin costs.
 */
@SuppressWarnings("try") // a controller is only there to be used by the jobs
final class SlurmBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-slurm");
    /** Tickets in flight, as many as the plain cluster has nodes. */
    private static final int QUOTA = SlurmPairFixture.SHAPE.hosts();

    private static final int STARTS = 100;
    private static final double START_S = 2;
    private static final int JOBS = 200;
    /** What a job of the throughput sleeps: nothing, which shows Slurm's and our own time alone, and what a short job may take. */
    private static final int[] SLEEPS_S = {0, 5};

    private static final int SUBMISSIONS = 200;
    private static final double SCRIPT_MS = 1;
    private static final double MILLISECONDS = 1e3;
    private static final Path COMPILER = Path.of("/usr/bin/gcc");

    @Override
    public void run(LabHome home, int rounds, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        try (SlurmPairFixture stage = SlurmPairFixture.up(home, NAME)) {
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

    /** One after the other, on two nodes each. The plain cluster's are idle all the time: its figure is from the submission. */
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

    /** All submitted at once, each on a whole node. */
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

    /** Of jobs that are held, so that nothing but submissions happens; the queue grows with each. */
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

    /** What a user waits for sbatch, in seconds. */
    private static double submission(ClusterLogin user) throws IOException {
        long from = System.nanoTime();
        user.submit("true", "--hold", "--output=/dev/null");
        return (System.nanoTime() - from) / 1e9;
    }

    private static double[] milliseconds(double[] seconds) {
        return Arrays.stream(seconds).map(each -> each * MILLISECONDS).toArray();
    }
}
