package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Steps whose kernel's files are folders of a test. */
public final class StepCgroupSamples {
    private static final String TASK = "system.slice/slurmstepd.scope/job_4711/step_0/user/task_0";
    private static final long CALLER = 7;

    private StepCgroupSamples() {}

    /**
     * Returns a step of job 4711.
     *
     * @param pid of a process whose threads are in the step
     */
    public static StepCgroup with(Path folder, long pid) throws IOException {
        file(folder, "proc/" + CALLER + "/cgroup", "0::/" + TASK + "\n");
        file(folder, "proc/self/mountinfo", "41 31 0:38 / " + folder + "/cgroup rw - cgroup2 cgroup2 rw\n");
        file(folder, "cgroup/" + TASK + "/cgroup.procs", "");
        file(folder, "proc/" + pid + "/task/" + pid + "/cgroup", "0::/" + TASK + "\n");
        return StepCgroup.of(folder.resolve("proc"), CALLER, sluid -> {
            throw new AssertionError(sluid);
        });
    }

    private static void file(Path folder, String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
