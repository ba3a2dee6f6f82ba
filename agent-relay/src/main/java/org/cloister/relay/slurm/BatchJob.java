package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.List;

/** A submission as sbatch takes it: resources, the ticket's id and a script that is the same for all but for them. */
final class BatchJob {
    private BatchJob() {}

    static List<String> arguments(JobSubmission what) {
        List<String> argv = new ArrayList<>(List.of(
                "--parsable",
                "--job-name=" + what.ticket(),
                "--comment=" + what.ticket(),
                "--account=" + what.account(),
                "--partition=" + what.partition(),
                // Of a ticket's jobs, should there be two for a moment, only one runs.
                "--dependency=singleton",
                "--no-requeue",
                "--export=NONE",
                // The relay's own limits (no core dump, few files) are not the job's.
                "--propagate=NONE",
                "--chdir=/",
                "--input=/dev/null",
                "--output=/dev/null",
                "--error=/dev/null",
                "--nodes=" + what.nodes(),
                "--cpus-per-task=" + what.cpusPerTask(),
                "--mem=" + what.memoryMib() + (what.memoryMib() == 0 ? "" : "M"),
                "--time=" + what.limit().toMinutes()));
        what.tasks().ifPresent(n -> argv.add("--ntasks=" + n));
        what.tasksPerNode().ifPresent(n -> argv.add("--ntasks-per-node=" + n));
        if (what.exclusive()) {
            argv.add("--exclusive");
        }
        if (!what.features().isEmpty()) {
            argv.add("--constraint=" + String.join("&", what.features()));
        }
        return argv;
    }

    /**
     * One step with one task on each node, which has all that the job has there: {@code --mem=0}, and CPUs undivided as
     * is srun's way. Without {@code --nodes} and {@code --ntasks} srun takes the job's number of tasks and starts the step
     * several times on a node.
     */
    static String script(JobSubmission what, GlobalSlurmSettings settings) {
        return "#!/bin/sh\nexec %s --nodes=%d --ntasks=%d --ntasks-per-node=1 --mem=0 --kill-on-bad-exit=1 %s %s\n"
                .formatted(
                        settings.program("srun"),
                        what.nodes(),
                        what.nodes(),
                        String.join(" ", settings.step()),
                        what.ticket());
    }
}
