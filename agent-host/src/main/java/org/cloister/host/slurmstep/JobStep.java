package org.cloister.host.slurmstep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The step that a process belongs to, as the kernel has it: never from arguments or the environment, which the caller
 * writes.
 *
 * @param job its number
 * @param step {@code 0} and so on, {@code batch}, {@code extern} or {@code interactive}
 * @param cgroups the process's own cgroups in the hierarchies that Slurm has a cgroup of the step in; at least one
 */
record JobStep(long job, String step, List<CgroupPath> cgroups) {
    /**
     * Slurm's paths begin at a hierarchy's root, where only root makes folders; what a user makes lies below its own step and
     * is looked at no more. Version 1 (22.05's cgroup/v1): {@code /slurm/uid_0/job_12/step_0/task_0}, {@code slurm_NODE} where
     * several slurmd may be; version 2: {@code /system.slice/slurmstepd.scope/job_12/step_0/user/task_0}, with {@code NODE_} before.
     */
    private static final Pattern V1 =
            Pattern.compile("(/slurm(?:_[A-Za-z0-9.-]{1,64})?/uid_[0-9]{1,10}/job_([1-9][0-9]{0,17})"
                    + "/step_([0-9]{1,10}|batch|extern|interactive))(?:/.*)?");

    private static final Pattern V2 = Pattern.compile("(/system\\.slice/(?:[A-Za-z0-9.-]{1,64}_)?slurmstepd\\.scope"
            + "/job_([1-9][0-9]{0,17})/step_([0-9]{1,10}|batch|extern|interactive))(?:/.*)?");

    /**
     * @param controllers of the hierarchy, as in {@code /proc/PID/cgroup}; empty of version 2
     * @param step the step's own cgroup, from the hierarchy's root
     * @param path the process's, below it or itself
     */
    record CgroupPath(String controllers, String step, String path) {}

    JobStep {
        cgroups = List.copyOf(cgroups);
    }

    /**
     * @param text {@code /proc/PID/cgroup}
     * @throws NotInJobStep if it is in none, or in two that differ
     */
    static JobStep parse(String text) throws IOException {
        Optional<JobStep> found = Optional.empty();
        List<CgroupPath> places = new ArrayList<>();
        for (ProcessCgroups.Membership place : ProcessCgroups.parse(text).memberships()) {
            Matcher form = (place.controllers().isEmpty() ? V2 : V1).matcher(place.path());
            if (!form.matches()) {
                continue;
            }
            places.add(new CgroupPath(place.controllers(), form.group(1), place.path()));
            JobStep step = new JobStep(Long.parseLong(form.group(2)), form.group(3), places);
            if (found.isPresent()
                    && (found.get().job != step.job || !found.get().step.equals(step.step))) {
                throw new NotInJobStep(
                        "caller's cgroups: want one step, have " + found.get().job + "." + found.get().step + " and "
                                + step.job + "." + step.step + "; nobody but slurmd is to move processes there");
            }
            found = Optional.of(step);
        }
        return found.orElseThrow(() ->
                new NotInJobStep("caller's cgroups: want a step of Slurm's, have none; start it with srun, and set"
                        + " ProctrackType=proctrack/cgroup and TaskPlugin=task/cgroup on this host"));
    }

    @Override
    public String toString() {
        return job + "." + step;
    }
}
