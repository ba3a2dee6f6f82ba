package org.cloister.lab.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.vm.ControllerConfig;
import org.cloister.vm.LocalQueue;
import org.cloister.vm.Shape;

/**
 * Program: {@code HOME LAB QUOTA}. The queue of a stage's Local Slurm, until its input ends or it is killed. It runs outside of
 * the head node and enters it for each command, so that workers, which it starts, are nobody's but the stage's.
 */
public final class ControllerProgram {
    private static final int BROKEN = 70;

    private ControllerProgram() {}

    @SuppressWarnings("try") // the queue is only there to be closed
    public static void main(String[] args) throws IOException {
        // What nobody expected ends the process: whoever started it starts it again.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> end(failure));
        Site site = new Site(new LabHome(Path.of(args[0])), new LabName(args[1]), LocalStage.LOCAL);
        List<Shape> shapes = List.of(LocalStage.SHAPE);
        ControllerConfig config = ControllerConfig.load(
                Files.writeString(site.folder().resolve("agent-vm.toml"), text(site, Integer.parseInt(args[2]))));
        try (NamespaceWorkers workers = new NamespaceWorkers(site, shapes);
                LocalQueue queue = LocalQueue.start(config, workers, ControllerProgram::end)) {
            System.out.println(ControllerProcess.READY);
            while (System.in.read() >= 0) {
                // Whoever started this closes its end.
            }
        }
    }

    /** Paths are ours; on the head node {@code run} is {@link Site#RUN}. */
    private static String text(Site site, int quota) throws IOException {
        return """
                run = "%1$s"
                state = "%2$s"
                metrics = "%1$s/cloister-vm.prom"
                [queue]
                tickets = %3$d
                features = [%4$s]
                longest = %5$d
                [slurm]
                cluster = "%6$s"
                programs = "%7$s"
                [[shape]]
                hosts = %8$d
                cpus = %9$d
                memory-mib = %10$d
                scratch-mib = %11$d
                """.formatted(
                        site.run(),
                        site.folder().resolve("state"),
                        quota,
                        String.join(
                                ", ",
                                LocalSlurmFiles.FEATURES.stream()
                                        .map("\"%s\""::formatted)
                                        .toList()),
                        LocalSlurmFiles.LONGEST.toSeconds(),
                        site.name(),
                        site.cluster().programs(),
                        LocalStage.SHAPE.hosts(),
                        LocalStage.SHAPE.cpus(),
                        LocalStage.SHAPE.memoryMib(),
                        LocalStage.SHAPE.scratchMib());
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // the log is all there is
    private static void end(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(BROKEN);
    }
}
