package org.cloister.slurm;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Options of sbatch and srun that each ticket's job needs, as arguments of a run that submits nothing. Both programs
 * read their options in order, and {@code --version}, the last one, ends them; so an option that this Slurm does not
 * know is reported before.
 */
public final class TicketJobOptions {
    /** Options of sbatch that are the same for all tickets. */
    public static final List<String> SAME_FOR_ALL = List.of(
            "--parsable",
            // If a ticket has two jobs for a moment, only one of them runs.
            "--dependency=singleton",
            "--no-requeue",
            "--export=NONE",
            // The relay's own limits (no core dump, few files) must not apply to the job.
            "--propagate=NONE",
            "--chdir=/",
            "--input=/dev/null",
            "--output=/dev/null",
            "--error=/dev/null");

    public static final List<String> SBATCH = concat(
            SAME_FOR_ALL,
            List.of(
                    "--job-name=x",
                    "--comment=x",
                    "--account=x",
                    "--partition=x",
                    "--nodes=1",
                    "--cpus-per-task=1",
                    "--mem=1M",
                    "--time=1",
                    "--ntasks=1",
                    "--ntasks-per-node=1",
                    "--exclusive",
                    "--constraint=x",
                    "--version"));
    public static final List<String> SRUN =
            List.of("--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--mem=0", "--kill-on-bad-exit=1", "--version");

    private static final String UNKNOWN = "unrecognized option";

    private TicketJobOptions() {}

    private static List<String> concat(List<String> one, List<String> other) {
        return Stream.concat(one.stream(), other.stream()).toList();
    }

    /** Returns the line in which a program complains about an option that it does not know, from its error output. */
    public static Optional<String> unknownOption(String errors) {
        return errors.lines().filter(line -> line.contains(UNKNOWN)).findFirst().map(LogText::printable);
    }
}
