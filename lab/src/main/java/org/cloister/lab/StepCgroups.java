package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Tracking of steps by a Slurm of the lab: by its own list of processes, or in the kernel's cgroups of version 1. */
public final class StepCgroups {
    /** Lines of slurm.conf. */
    static final String PLUGINS = """
            ProctrackType=proctrack/cgroup
            TaskPlugin=task/cgroup,task/affinity
            JobAcctGatherType=jobacct_gather/cgroup""";

    static final String NO_PLUGINS = """
            ProctrackType=proctrack/linuxproc
            TaskPlugin=task/none
            JobAcctGatherType=jobacct_gather/none""";

    /** Lines of cgroup.conf. */
    static final String NONE = "IgnoreSystemd=yes\n";

    public static final String LIMITS = NONE + """
            CgroupPlugin=cgroup/v1
            ConstrainRAMSpace=yes
            ConstrainCores=yes
            """;

    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private StepCgroups() {}

    /** Removes the cgroups that an ended node leaves behind, because they are in no namespace. */
    public static void remove(String node) throws IOException {
        try (Stream<Path> hierarchies = Files.list(ROOT)) {
            for (Path hierarchy : hierarchies.toList()) {
                removeAll(hierarchy.resolve("slurm_" + node));
            }
        }
    }

    /** Lets processes of a step end that a killed slurmstepd had frozen, as it does to signal all of them at once. */
    private static void thaw(Path folder) throws IOException {
        Path state = folder.resolve("freezer.state");
        if (Files.exists(state)) {
            Files.writeString(state, "THAWED");
        }
    }

    /** Removes folders from the deepest up; a cgroup's files are removed with it. */
    private static void removeAll(Path cgroup) throws IOException {
        if (!Files.isDirectory(cgroup)) {
            return;
        }
        List<Path> folders;
        try (Stream<Path> all = Files.walk(cgroup)) {
            folders = all.filter(Files::isDirectory)
                    .sorted((one, other) -> other.getNameCount() - one.getNameCount())
                    .toList();
        }
        for (Path each : folders) {
            thaw(each);
            Poll.until(
                    "an empty " + each,
                    LIMIT,
                    "rmdir " + each,
                    () -> each.toFile().delete());
        }
    }
}
