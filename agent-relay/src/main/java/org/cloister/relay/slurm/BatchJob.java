package org.cloister.relay.slurm;

import java.util.ArrayList;
import java.util.List;
import org.cloister.slurm.TicketJobOptions;

/**
 * Arguments and script with which sbatch submits a ticket's job. The script is the same for all jobs except for the
 * resources and the ticket's id.
 */
final class BatchJob {
    private BatchJob() {}

    static List<String> arguments(JobSubmission what) {
        List<String> argv = new ArrayList<>(TicketJobOptions.SAME_FOR_ALL);
        argv.addAll(List.of(
                "--job-name=" + what.ticket(),
                "--comment=" + what.ticket(),
                "--account=" + what.account(),
                "--partition=" + what.partition(),
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
     * Returns the batch script: one step with one task on each node, which gets all that the job has there:
     * {@code --mem=0}, and all CPUs by srun's default. Without {@code --nodes} and {@code --ntasks} srun uses the job's
     * number of tasks and starts the step several times on a node. srun of Slurm 23.11 and newer takes the job's CPUs
     * per task for the step's from the two variables, and the step would have one task's CPUs alone.
     */
    static String script(JobSubmission what, GlobalSlurmSettings settings) {
        return "#!/bin/sh\nunset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK\n"
                + "exec %s --nodes=%d --ntasks=%d --ntasks-per-node=1 --mem=0 --kill-on-bad-exit=1 %s %s\n"
                        .formatted(
                                settings.program("srun"),
                                what.nodes(),
                                what.nodes(),
                                String.join(" ", settings.step()),
                                what.ticket());
    }
}
