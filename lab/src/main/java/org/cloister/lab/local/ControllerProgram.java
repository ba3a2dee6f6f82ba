package org.cloister.lab.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.slurm.SlurmProgram;
import org.cloister.vm.Shape;
import org.cloister.vm.queue.Controller;
import org.cloister.vm.queue.ControllerSettings;
import org.cloister.vm.queue.Ledger;
import org.cloister.vm.queue.Timings;
import org.cloister.vm.slurm.LocalSlurmCommands;
import org.cloister.vm.status.StatusFiles;
import org.cloister.vm.worker.Phase;

/**
 * Program: {@code HOME LAB QUOTA}. The queue of a stage's Local Slurm, until its input ends or it is killed. It runs outside of
 * the head node and enters it for each command, so that workers, which it starts, are nobody's but the stage's.
 */
public final class ControllerProgram {
    private static final Duration COMMAND_LIMIT = Duration.ofSeconds(15);
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final int ATTEMPTS = 3;
    private static final int BROKEN = 70;

    private ControllerProgram() {}

    public static void main(String[] args) throws IOException {
        // What nobody expected ends the process: whoever started it starts it again.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> end(failure));
        Site site = new Site(new LabHome(Path.of(args[0])), new LabName(args[1]), LocalStage.LOCAL);
        List<Shape> shapes = List.of(LocalStage.SHAPE);
        ControllerSettings settings = new ControllerSettings(
                Integer.parseInt(args[2]),
                shapes,
                LocalSlurmFiles.FEATURES,
                ATTEMPTS,
                START_LIMIT,
                LocalSlurmFiles.LONGEST);
        SlurmProgram slurm = new SlurmProgram(Optional.of(site.cluster().programs()), Optional.empty(), COMMAND_LIMIT);
        Path state = Files.createDirectories(site.folder().resolve("state"));
        try (Ledger ledger = Ledger.open(state.resolve("ledger"));
                NamespaceWorkers workers = new NamespaceWorkers(site, shapes);
                Controller controller = new Controller(
                        settings,
                        new LocalSlurmCommands(slurm),
                        workers,
                        ledger,
                        new StatusFiles(Files.createDirectories(statuses(site)), InstantSource.system()),
                        new Told(),
                        InstantSource.system(),
                        LocalSlurmFiles.bell(site),
                        ControllerProgram::end)) {
            controller.start();
            System.out.println(ControllerProcess.READY);
            while (System.in.read() >= 0) {
                // Whoever started this closes its end.
            }
        }
    }

    /** Where {@code agentctl vm why} looks, on the head node. */
    static Path statuses(Site site) {
        return site.run().resolve("jobs");
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the log is all there is
    private static void end(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(BROKEN);
    }

    /** The log hears what metrics would count and is rare. */
    private static final class Told implements Timings {
        @Override
        public void asked() {}

        @Override
        public void started(Duration took) {
            System.err.println("started after " + took.toMillis() + " ms");
        }

        @Override
        public void failed(Phase phase) {
            System.err.println("failed in " + phase);
        }

        @Override
        public void passed(Phase phase, Duration took) {
            System.err.println(phase + " took " + took.toMillis() + " ms");
        }

        @Override
        public void looked(Duration took) {}

        @Override
        public void silent() {
            System.err.println("slurm: no answer");
        }

        @Override
        public void standing(int tickets, int waiting) {}
    }
}
