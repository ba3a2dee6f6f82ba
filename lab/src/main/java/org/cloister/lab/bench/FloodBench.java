package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.LabException;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.FloodProgram;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.relay.SequentialTicketsProgram;
import org.cloister.lab.relay.SlurmCommandStubs;

/**
 * Measures the tickets of one project, from request to allocation, without and during another project's flood,
 * alternately on one relay, and the relay's memory meanwhile.
 */
final class FloodBench {
    private static final int WARM = 20;
    private static final int SLICES = 4;
    /**
     * Number of tickets in one slice. With {@link #SLICES} of each kind, fewer than the addresses of a project's
     * network, each of which has a reuse delay.
     */
    private static final int TICKETS = 100;

    private static final double MEMORY_MB = 512;
    private static final Duration TIMEOUT = Duration.ofSeconds(90);

    private FloodBench() {}

    static void run(Path folder, int repetitions, BenchFigures figures) throws IOException {
        double[] idle = new double[repetitions];
        double[] flooded = new double[repetitions];
        double[] memory = new double[repetitions];
        for (int i = 0; i < repetitions; i++) {
            Measurement round = new Measurement(Files.createDirectories(folder.resolve(Integer.toString(i))));
            round.run();
            idle[i] = p99(round.idle);
            flooded[i] = p99(round.flooded);
            memory[i] = round.memoryMb;
        }
        figures.roundTimes("fair_p99", flooded, idle);
        figures.within("flood_memory", memory, MEMORY_MB, "MB");
    }

    private static double p99(List<Double> seconds) {
        return BenchFigures.quantile(
                seconds.stream().mapToDouble(Double::doubleValue).toArray(), 0.99);
    }

    /**
     * Measurement on one relay. The slowest tickets of one turn are due to the machine's other work as much as to the
     * relay, so the turns share a quantile.
     */
    private static final class Measurement {
        final List<Double> idle = new ArrayList<>();
        final List<Double> flooded = new ArrayList<>();
        double memoryMb;

        private final Path folder;
        private final Path other;
        private final int port = ChildProcess.port();

        Measurement(Path folder) throws IOException {
            this.folder = folder;
            this.other = folder.resolve("other");
        }

        @SuppressWarnings("try") // the flood is only there to be endured
        void run() throws IOException {
            RelaySiteFiles site = RelaySiteFiles.create(folder, 1);
            Path config = site.relayConfig(port);
            String slurm = "[slurm]\npartition = \"secure\"\nprograms = \"" + SlurmCommandStubs.in(folder) + "\"\n";
            Files.writeString(config, slurm, StandardOpenOption.APPEND);
            try (ChildProcess relay = ChildProcess.relay(folder, config, port)) {
                site.deliver();
                site.beside(other);
                // The first tickets warm up the JVM.
                seconds(relay, WARM);
                for (int i = 0; i < SLICES; i++) {
                    idle.addAll(seconds(relay, TICKETS));
                    try (ChildProcess flood = ChildProcess.java(FloodProgram.class, folder, folder, port)) {
                        flood.await("flooding", TIMEOUT);
                        // The flood represents other machines, which would not use this machine's processors.
                        flood.yieldToOthers();
                        flooded.addAll(seconds(relay, TICKETS));
                    }
                }
            }
        }

        private List<Double> seconds(ChildProcess relay, int count) throws IOException {
            List<Double> seconds = new ArrayList<>();
            try (ChildProcess tickets =
                    ChildProcess.java(SequentialTicketsProgram.class, folder, folder, other, port, 5, count)) {
                for (Optional<String> line = tickets.line(TIMEOUT); line.isPresent(); line = tickets.line(TIMEOUT)) {
                    seconds.add(Double.valueOf(line.get().split(" ", -1)[1]));
                    memoryMb = Math.max(memoryMb, relay.residentMb());
                }
            }
            if (seconds.size() != count) {
                throw new LabException(
                        "bench relay: want " + count + " tickets with an allocation, have " + seconds.size(),
                        "read OneByOne.log and agent-relay.log in " + folder);
            }
            return seconds;
        }
    }
}
