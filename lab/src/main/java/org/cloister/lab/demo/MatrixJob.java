package org.cloister.lab.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.wire.Wiretap;

/**
 * A member's job: an MPI program over two nodes reads a matrix from the project's storage and writes its square there.
 */
final class MatrixJob {
    static final String MARKER = Wiretap.MARKER;

    private static final int SIZE = 256;
    private static final int NODES = 2;

    private final MemberDevice member;
    private final Path folder;
    private final Random random;
    private final SquareMatrix matrix;

    /** @param folder of the member's files */
    MatrixJob(MemberDevice member, Path folder, Random random) {
        this.member = member;
        this.folder = folder;
        this.random = random;
        this.matrix = SquareMatrix.random(SIZE, random);
    }

    /** Builds the program and uploads it with its input to the project's storage. */
    void upload() throws IOException {
        for (String name : List.of("openmpi.h", "square.c", "square.sh", "watch.sh", "reach.sh")) {
            try (InputStream in = MatrixJob.class.getResourceAsStream(name)) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                Files.writeString(folder.resolve(name), text.replace("@MARKER@", MARKER));
            }
        }
        Path program = folder.resolve("square");
        LabCommand.of(
                        "cc",
                        "-O2",
                        "-o",
                        program.toString(),
                        folder.resolve("square.c").toString(),
                        "-ldl")
                .succeed();
        Path input = Files.writeString(folder.resolve("matrix.txt"), "# " + MARKER + "-input\n" + matrix.text());
        member.put(program, input, folder.resolve("square.sh"), folder.resolve("watch.sh"), folder.resolve("reach.sh"));
    }

    /** Submits the job, and prints its state until it has ended. */
    String run(PrintStream out) throws IOException {
        String job =
                member.submit("--nodes=" + NODES + " --ntasks-per-node=1 --comment=" + MARKER + "-comment square.sh");
        long from = System.nanoTime();
        member.follow(
                "bash watch.sh " + job,
                line -> out.printf(
                        Locale.ROOT, "    job %s  %6.1f s  %s%n", job, (System.nanoTime() - from) / 1e9, line));
        String state = member.state(job);
        if (!state.equals("COMPLETED|0:0")) {
            throw new LabException(
                    "job " + job + ": want COMPLETED|0:0, have " + state + ": " + member.runSsh("cat square.txt"),
                    "read what it said above");
        }
        return job;
    }

    /** Fetches the result; the member is an exporter, too. */
    void check(DemoClaims claims) throws IOException {
        Path output = folder.resolve("square-of-it.txt");
        member.get(output.getFileName().toString(), output).succeed();
        String ranks =
                String.join("; ", member.runSsh("sort square.txt").lines().toList());
        claims.require(
                matrix.hasSquare(SquareMatrix.parse(Files.readString(output)), random)
                        && ranks.contains("rank 1 of " + NODES),
                "the job's result is right",
                "the square of " + SIZE + " x " + SIZE + " numbers, checked on the member's device; " + ranks);
    }

    /** Returns the timeline of a job that has ended. */
    JobTimeline timeline(String job) throws IOException {
        String times = member.runSsh("SLURM_TIME_FORMAT=%s sacct -n -X -P -o Submit,Start,End -j " + job)
                .strip();
        List<Long> seconds =
                List.of(times.split("\\|")).stream().map(Long::valueOf).toList();
        long submitted = seconds.get(0);
        return JobTimeline.of(member.phases(job), seconds.get(1) - submitted, seconds.get(2) - submitted);
    }
}
