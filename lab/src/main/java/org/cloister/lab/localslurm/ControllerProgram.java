package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.vm.controller.LocalQueue;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.queue.QueueJournal;
import org.cloister.vm.metrics.MetricsFile;
import org.cloister.vm.metrics.VmMetrics;

/**
 * Program: {@code HOME LAB QUOTA}. Runs the queue of a fixture's Local Slurm until its input ends or it is killed. It
 * runs outside of the head node and enters it for each command, so that the workers that it starts belong only to the
 * fixture.
 */
public final class ControllerProgram {
    private static final int BROKEN = 70;
    private static final long METRICS_S = 10;

    private ControllerProgram() {}

    @SuppressWarnings({"try", "FutureReturnValueIgnored"}) // the queue is only there to be closed
    public static void main(String[] args) throws IOException {
        // An unexpected failure ends the process; its parent starts it again.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> exit(failure));
        ClusterSite site = new ClusterSite(new LabHome(Path.of(args[0])), new LabName(args[1]), SlurmPairFixture.LOCAL);
        ControllerConfig config = LocalSlurmFiles.config(
                site,
                site.run(),
                Integer.parseInt(args[2]),
                Optional.of(site.cluster().programs()));
        VmMetrics metrics = new VmMetrics();
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(ControllerProgram::daemon);
        MetricsFile file = new MetricsFile(site.run().resolve("cloister-vm.prom"));
        clock.scheduleWithFixedDelay(() -> file.write(metrics), 0, METRICS_S, TimeUnit.SECONDS);
        try (NamespaceWorkers workers = new NamespaceWorkers(site, List.of(SlurmPairFixture.SHAPE));
                QueueJournal journal = LocalQueue.openJournal(config);
                LocalQueue queue = LocalQueue.start(config, workers, journal, metrics, ControllerProgram::exit)) {
            System.out.println(ControllerProcess.READY);
            while (System.in.read() >= 0) {
                // The parent process closes its end.
            }
        }
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "metrics");
        thread.setDaemon(true);
        return thread;
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the log is the only output
    private static void exit(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(BROKEN);
    }
}
