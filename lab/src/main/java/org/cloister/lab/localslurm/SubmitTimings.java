package org.cloister.lab.localslurm;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabMachine;

/**
 * Measures the time that slurmctld spends in its submit plugin, with a library that is preloaded into it
 * ({@code submit-time.c}); gcc builds the library on demand.
 */
public final class SubmitTimings {
    private static final int CALL = 0;
    private static final int FIELDS = 3;
    private static final double NANOSECONDS = 1e9;

    private final Path lines;

    private SubmitTimings(Path lines) {
        this.lines = lines;
    }

    /** The measured part of a call. */
    public enum Phase {
        /** Our script alone. */
        SCRIPT(1),
        /** Slurm's Lua plugin too, which makes a table of all jobs whenever a job has changed since the last second. */
        WHOLE(2);

        private final int field;

        Phase(int field) {
            this.field = field;
        }
    }

    /** Restarts the cluster's slurmctld with the library. */
    public static SubmitTimings preload(LabCluster cluster) throws IOException {
        LabMachine head = cluster.head();
        Path folder = head.folder("submit-time");
        Path source = folder.resolve("submit-time.c");
        try (InputStream in = SubmitTimings.class.getResourceAsStream("submit-time.c")) {
            if (in == null) {
                throw new FileNotFoundException("submit-time.c: not in the jar");
            }
            Files.write(source, in.readAllBytes());
        }
        Path library = folder.resolve("submit-time.so");
        LabCommand.of("gcc", "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-ldl")
                .succeed();
        Path lines = folder.resolve("times");
        Files.deleteIfExists(lines);
        cluster.terminateController();
        head.command(
                        "env",
                        "LD_PRELOAD=" + library,
                        "SUBMIT_TIMES=" + lines,
                        "slurmctld",
                        "-L",
                        head.log("slurmctld").toString())
                .succeed();
        cluster.awaitController();
        return new SubmitTimings(lines);
    }

    /**
     * @param call {@code submit} or {@code modify}
     * @return in seconds, in their order
     */
    public double[] seconds(String call, Phase part) throws IOException {
        return Files.readAllLines(lines).stream()
                .map(line -> line.split(" ", FIELDS))
                .filter(fields -> fields[CALL].equals(call))
                .mapToDouble(fields -> Long.parseLong(fields[part.field]) / NANOSECONDS)
                .toArray();
    }
}
