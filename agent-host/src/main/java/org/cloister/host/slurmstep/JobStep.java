package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Job step of a process, from the kernel: never from arguments or the environment, which the caller controls.
 *
 * @param job its number
 * @param step {@code 0} and so on, {@code batch}, {@code extern} or {@code interactive}
 * @param cgroups of the process, in the hierarchies in which Slurm has a cgroup of the step; at least one
 */
record JobStep(long job, String step, List<CgroupPath> cgroups) {
    /**
     * Forms of Slurm's paths, which start at a hierarchy's root, where only root creates folders; folders that a user
     * creates are below the user's own step and are not parsed. Version 1 (22.05's cgroup/v1): {@code
     * /slurm/uid_0/job_12/step_0/task_0}, or {@code slurm_NODE} where several slurmd may run; version 2: {@code
     * /system.slice/slurmstepd.scope/job_12/step_0/user/task_0}, with a prefix {@code NODE_}.
     */
    private static final Pattern V1 =
            Pattern.compile("(/slurm(?:_[A-Za-z0-9.-]{1,64})?/uid_[0-9]{1,10}/job_([1-9][0-9]{0,17})"
                    + "/step_([0-9]{1,10}|batch|extern|interactive))(?:/.*)?");

    private static final Pattern V2 = Pattern.compile("(/system\\.slice/(?:[A-Za-z0-9.-]{1,64}_)?slurmstepd\\.scope"
            + "/job_([1-9][0-9]{0,17})/step_([0-9]{1,10}|batch|extern|interactive))(?:/.*)?");

    /**
     * Paths in one hierarchy.
     *
     * @param controllers of the hierarchy, as in {@code /proc/PID/cgroup}; empty for version 2
     * @param step path of the step's own cgroup, from the hierarchy's root
     * @param path of the process's cgroup: the same or below it
     */
    record CgroupPath(String controllers, String step, String path) {}

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
            memberships.add(new CgroupPath(membership.controllers(), form.group(1), membership.path()));
            JobStep step = new JobStep(Long.parseLong(form.group(2)), form.group(3), memberships);
            if (found.isPresent()
                    && (found.get().job != step.job || !found.get().step.equals(step.step))) {
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

    @Override
    public String toString() {
        return job + "." + step;
    }
}
