package org.cloister.lab.localslurm;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;

/**
 * Batch jobs of a user whose first line records when it runs. Times are in seconds since the epoch, by the one clock
 * that all machines of a lab have.
 */
public final class TimedJobs {
    private static final Duration LIMIT = Duration.ofMinutes(15);
    /** Pause between polls for the end of all jobs; both of two clusters answer as often. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private static final double MILLISECONDS = 1e3;

    private final LabCluster cluster;
    private final ClusterLogin user;
    private final Path timesFile;

    /**
     * @param submitted before the first {@code sbatch}
     * @param ended when Slurm first reported that no job of them waits, runs or completes
     */
    public record Series(double submitted, double ended, List<JobStart> jobs) {
        public double seconds() {
            return ended - submitted;
        }
    }

    /**
     * @param firstLine when it ran
     * @param nodes as Slurm folds their names
     */
    public record JobStart(double firstLine, String nodes) {}

    /** @param what name of the folder for these jobs, one of several series of the user in a cluster */
    public TimedJobs(LabCluster cluster, ClusterUser user, String what) throws IOException {
        this.cluster = cluster;
        this.user = cluster.as(user);
        this.timesFile = cluster.homes().resolve(user.name()).resolve(what);
        this.user.succeed("mkdir", "-p", what);
        this.user.succeed(
                "sh",
                "-c",
                ("printf '%%s\\n' '#!/bin/sh' 'date +%%s.%%N >%1$s/$SLURM_JOB_ID'"
                                + " 'echo $SLURM_JOB_NODELIST >>%1$s/$SLURM_JOB_ID' 'exec sleep $1' >%1$s.sh")
                        .formatted(what));
    }

    /**
     * Submits all from one shell, as fast as {@code sbatch} permits, and waits until they have ended.
     *
     * @param sleep seconds that each job takes
     * @param nodes of each, of which it has every CPU
     */
    public Series run(int jobs, int sleep, int nodes) throws IOException {
        String submit = ("for i in $(seq %d); do sbatch --parsable --output=/dev/null --nodes=%d --ntasks-per-node=1"
                        + " --cpus-per-task=%d --mem-per-cpu=100 %s.sh %d || exit; done")
                .formatted(jobs, nodes, SlurmPairFixture.SHAPE.cpus(), timesFile.getFileName(), sleep);
        double submitted = now();
        List<Long> ids = user.command(List.of("sh", "-c", submit))
                .within(LIMIT)
                .succeed()
                .lines()
                .map(Long::valueOf)
                .toList();
        Poll.until(
                "the end of " + ids.size() + " jobs",
                LIMIT,
                "read " + cluster.head().log("slurmctld"),
                PAUSE,
                () -> goingOn() == 0);
        double ended = now();
        return new Series(submitted, ended, began(ids));
    }

    private long goingOn() throws IOException {
        return user.succeed("squeue", "-h", "--me", "-t", "PD,CF,R,CG,S", "-o", "%i")
                .lines()
                .count();
    }

    private List<JobStart> began(List<Long> ids) throws IOException {
        List<JobStart> all = new ArrayList<>();
        for (long id : ids) {
            Path file = timesFile.resolve(Long.toString(id));
            if (!Files.exists(file)) {
                throw new LabException(
                        "job " + id + ": ended without its first line", "read the logs of slurmctld and its node");
            }
            List<String> lines = Files.readAllLines(file);
            all.add(new JobStart(new BigDecimal(lines.get(0)).doubleValue(), lines.get(1)));
        }
        return all;
    }

    private static double now() {
        return System.currentTimeMillis() / MILLISECONDS;
    }
}
