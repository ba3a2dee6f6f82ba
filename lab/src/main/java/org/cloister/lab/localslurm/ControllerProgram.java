package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.vm.controller.LocalQueue;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.queue.QueueJournal;

/**
 * Program: {@code HOME LAB QUOTA}. Runs the queue of a fixture's Local Slurm until its input ends or it is killed. It
 * runs outside of the head node and enters it for each command, so that the workers that it starts belong only to the
 * fixture.
 */
public final class ControllerProgram {
    private static final int BROKEN = 70;

    private ControllerProgram() {}

    @SuppressWarnings("try") // the queue is only there to be closed
    public static void main(String[] args) throws IOException {
        // An unexpected failure ends the process; its parent starts it again.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> exit(failure));
        ClusterSite site = new ClusterSite(new LabHome(Path.of(args[0])), new LabName(args[1]), SlurmPairFixture.LOCAL);
        ControllerConfig config = LocalSlurmFiles.config(
                site,
                site.run(),
                Integer.parseInt(args[2]),
                Optional.of(site.cluster().programs()));
        try (NamespaceWorkers workers = new NamespaceWorkers(site, List.of(SlurmPairFixture.SHAPE));
                QueueJournal journal = LocalQueue.openJournal(config);
                LocalQueue queue = LocalQueue.start(config, workers, journal, ControllerProgram::exit)) {
            System.out.println(ControllerProcess.READY);
            while (System.in.read() >= 0) {
                // The parent process closes its end.
            }
        }
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the log is the only output
    private static void exit(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(BROKEN);
    }
}
