package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Job step of a process, from the kernel: never from arguments or the environment, which the caller controls.
 *
 * @param job its name in Slurm's cgroups: its number, or its SLUID from Slurm 26.05 on
 * @param step {@code 0} and so on, {@code batch}, {@code extern} or {@code interactive}
 * @param cgroups of the process, in the hierarchies in which Slurm has a cgroup of the step; at least one
 */
record JobStep(String job, String step, List<CgroupPath> cgroups) {
    private static final String NUMBER = "[1-9][0-9]{0,17}";
    private static final String STEP = "/step_(?<step>[0-9]{1,10}|batch|extern|interactive)";

    /**
     * Forms of Slurm's paths from a hierarchy's root. Folders that a user creates are below the user's own step and are
     * not parsed; {@link StepCgroup} requires that those above a job's are root's. Version 1: {@code
     * /slurm/uid_0/job_12/step_0/task_0}, or {@code slurm_NODE} where several slurmd may run. Version 2: {@code
     * /system.slice/slurmstepd.scope/job_12/step_0/user/task_0}, with a prefix {@code NODE_}, in another slice by
     * CgroupSlice (25.11), with a SLUID for {@code job_12} unless CgroupJobIdPaths is set (26.05).
     */
    private static final Pattern V1 =
            Pattern.compile("(?<folder>(?<above>/slurm(?:_[A-Za-z0-9.-]{1,64})?/uid_[0-9]{1,10})" + "/job_(?<job>"
                    + NUMBER + ")" + STEP + ")(?:/.*)?");

    private static final Pattern V2 = Pattern.compile(
            "(?<folder>(?<above>(?:/[A-Za-z0-9_.-]{1,64}\\.slice){1,4}/(?:[A-Za-z0-9.-]{1,64}_)?slurmstepd\\.scope)"
                    + "/(?:job_(?=[0-9]))?(?<job>(?<=job_)" + NUMBER + "|s[0-9A-Z]{13})" + STEP + ")(?:/.*)?");

    /**
     * Paths in one hierarchy.
     *
     * @param controllers of the hierarchy, as in {@code /proc/PID/cgroup}; empty for version 2
     * @param above path of the cgroup that Slurm's jobs are in, from the hierarchy's root
     * @param step path of the step's own cgroup, from there too
     * @param path of the process's cgroup: the same or below it
     */
    record CgroupPath(String controllers, String above, String step, String path) {}

    JobStep {
        cgroups = List.copyOf(cgroups);
    }

    /**
     * Parses a process's cgroups.
     *
     * @param text {@code /proc/PID/cgroup}
     * @throws NotInJobStep if it is in no step, or in two different ones
     */
    static JobStep parse(String text) throws IOException {
        Optional<JobStep> found = Optional.empty();
        List<CgroupPath> memberships = new ArrayList<>();
        for (ProcessCgroups.Membership membership : ProcessCgroups.parse(text).memberships()) {
            Matcher form = (membership.controllers().isEmpty() ? V2 : V1).matcher(membership.path());
            if (!form.matches()) {
                continue;
            }
            memberships.add(new CgroupPath(
                    membership.controllers(), form.group("above"), form.group("folder"), membership.path()));
            JobStep step = new JobStep(form.group("job"), form.group("step"), memberships);
            if (found.isPresent() && !found.get().toString().equals(step.toString())) {
                throw new NotInJobStep(
                        "the caller is in cgroups of two steps, " + found.get() + " and " + step,
                        "let only slurmd move processes there");
            }
            found = Optional.of(step);
        }
        return found.orElseThrow(() -> new NotInJobStep(
                "the caller is in no cgroup of a Slurm step",
                "start it with srun, and set ProctrackType=proctrack/cgroup and TaskPlugin=task/cgroup on this"
                        + " host"));
    }

    /** Returns the job's number, if its cgroups are named by it. */
    OptionalLong number() {
        return job.matches(NUMBER) ? OptionalLong.of(Long.parseLong(job)) : OptionalLong.empty();
    }

    @Override
    public String toString() {
        return job + "." + step;
    }
}
