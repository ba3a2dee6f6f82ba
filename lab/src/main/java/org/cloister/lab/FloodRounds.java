package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.relay.Flood;
import org.cloister.lab.relay.OneByOne;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.QuickSlurm;
import org.cloister.lab.relay.RelaySite;

/**
 * What one project's flood does to another project: its tickets from request to allocation, without the flood and during it, in
 * turn on one relay, and the relay's memory meanwhile.
 */
@SuppressWarnings("try") // a flood is only there to be borne
final class FloodRounds {
    private static final int WARM = 20;
    private static final int TICKETS = 100;
    private static final double MEMORY_MB = 512;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private FloodRounds() {}

    static void run(Path folder, int rounds, Figures figures) throws IOException {
        Files.createDirectories(folder);
        RelaySite site = RelaySite.make(folder, 1);
        int port = Program.port();
        Path config = site.relayConfig(port);
        String slurm = "[slurm]\npartition = \"secure\"\nprograms = \"" + QuickSlurm.in(folder) + "\"\n";
        Files.writeString(config, slurm, StandardOpenOption.APPEND);
        double[] idle = new double[rounds];
        double[] flooded = new double[rounds];
        double[] memory = new double[rounds];
        try (Program relay = Program.relay(folder, config, port)) {
            site.deliver();
            Path other = folder.resolve("other");
            site.beside(other);
            // The first ones are the JVM's.
            p99(folder, other, port, relay);
            for (int i = 0; i < rounds; i++) {
                idle[i] = p99(folder, other, port, relay).p99;
                try (Program flood = Program.java(Flood.class, folder, folder, port)) {
                    flood.await("flooding", PATIENCE);
                    Seen seen = p99(folder, other, port, relay);
                    flooded[i] = seen.p99;
                    memory[i] = seen.memory;
                }
            }
        }
        figures.roundTimes("fair_p99", flooded, idle);
        figures.within("flood_memory", memory, MEMORY_MB, "MB");
    }

    /** @param memory the most that was resident meanwhile, in MB */
    private record Seen(double p99, double memory) {}

    private static Seen p99(Path folder, Path other, int port, Program relay) throws IOException {
        List<Double> seconds = new ArrayList<>();
        double memory = 0;
        try (Program tickets = Program.java(OneByOne.class, folder, folder, other, port, WARM, TICKETS)) {
            for (Optional<String> line = tickets.line(PATIENCE); line.isPresent(); line = tickets.line(PATIENCE)) {
                seconds.add(Double.valueOf(line.get().split(" ", -1)[1]));
                memory = Math.max(memory, relay.residentMb());
            }
        }
        if (seconds.size() != TICKETS) {
            throw new LabException(
                    "bench relay: want " + TICKETS + " tickets with an allocation, have " + seconds.size(),
                    "read OneByOne.log and agent-relay.log in " + folder);
        }
        return new Seen(
                Figures.quantile(
                        seconds.stream().mapToDouble(Double::doubleValue).toArray(), 0.99),
                memory);
    }
}
