package org.cloister.slurm;

import java.util.List;
import java.util.Optional;

/**
 * Options of sbatch and srun that each ticket's job needs, as arguments of a run that submits nothing. Both programs
 * read their options in order, and {@code --version}, the last one, ends them; so an option that this Slurm does not
 * know is reported before.
 */
public final class TicketJobOptions {
    public static final List<String> SBATCH = List.of(
            "--parsable",
            "--job-name=x",
            "--comment=x",
            "--account=x",
            "--partition=x",
            "--dependency=singleton",
            "--no-requeue",
            "--export=NONE",
            "--propagate=NONE",
            "--chdir=/",
            "--input=/dev/null",
            "--output=/dev/null",
            "--error=/dev/null",
            "--nodes=1",
            "--cpus-per-task=1",
            "--mem=1M",
            "--time=1",
            "--ntasks=1",
            "--ntasks-per-node=1",
            "--exclusive",
            "--constraint=x",
            "--version");
    public static final List<String> SRUN =
            List.of("--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--mem=0", "--kill-on-bad-exit=1", "--version");

    private static final String UNKNOWN = "unrecognized option";

    private TicketJobOptions() {}

    /** Returns the line in which a program complains about an option that it does not know, from its error output. */
    public static Optional<String> unknownOption(String errors) {
        return errors.lines().filter(line -> line.contains(UNKNOWN)).findFirst().map(LogText::printable);
    }
}
