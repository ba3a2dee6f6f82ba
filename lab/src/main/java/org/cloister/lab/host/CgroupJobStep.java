package org.cloister.lab.host;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.host.slurmstep.JobNumbers;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;

/**
 * Cgroups of version 1 of a job step as slurmstepd makes them, with one process that sleeps, for scenarios that end
 * many: the step ends as in Slurm, with every process in it killed and the folders removed.
 */
public final class CgroupJobStep implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Path ROOT = Path.of("/sys/fs/cgroup");
    private static final List<String> HIERARCHIES = List.of("memory", "cpuset", "freezer");

    /** Its cgroups are named by numbers, so that Slurm is asked for none. */
    public static final JobNumbers NUMBERED = sluid -> {
        throw new IOException("job " + sluid + ": want cgroups that are named by the number");
    };

    private final String node;
    private final long job;
    private final Process sleeper;
    /** Process id in the host's own namespace. */
    private final long pid;

    private CgroupJobStep(String node, long job, Process sleeper, long pid) {
        this.node = node;
        this.job = job;
        this.sleeper = sleeper;
        this.pid = pid;
    }

    public static CgroupJobStep start(LabHost host, long job) throws IOException {
        String node = "s" + ProcessHandle.current().pid();
        Process sleeper = new ProcessBuilder(
                        host.command("sh", "-c", "echo $$; exec sleep 1000000").argv())
                .start();
        long pid = Long.parseLong(
                new BufferedReader(new InputStreamReader(sleeper.getInputStream(), StandardCharsets.US_ASCII))
                        .readLine());
        CgroupJobStep step = new CgroupJobStep(node, job, sleeper, pid);
        long outside = sleeper.children().findFirst().orElseThrow().pid();
        for (String hierarchy : HIERARCHIES) {
            Path above = ROOT.resolve(hierarchy);
            for (Path part : step.below()) {
                Path folder = Files.createDirectories(above.resolve(part));
                if (hierarchy.equals("cpuset")) {
                    inherit("cpuset.cpus", above, folder);
                    inherit("cpuset.mems", above, folder);
                }
                above = folder;
            }
            write(above.resolve("cgroup.procs"), Long.toString(outside));
        }
        return step;
    }

    /** Returns the id of its process, in the host's own namespace. */
    public long pid() {
        return pid;
    }

    public long job() {
        return job;
    }

    /** Returns the number of processes in it besides its own. */
    public int otherProcesses() throws IOException {
        return processes().size() - 1;
    }

    /** Stops the step. All of its processes have ended when this returns, and the step has too. */
    public void stop() throws IOException {
        if (!Files.exists(folder("freezer"))) {
            return;
        }
        Poll.until("an empty step " + job, LIMIT, "look at " + folder("freezer"), () -> {
            List<String> left = processes();
            left.forEach(each -> ProcessHandle.of(Long.parseLong(each)).ifPresent(ProcessHandle::destroyForcibly));
            return left.isEmpty();
        });
        sleeper.destroyForcibly();
        for (String hierarchy : HIERARCHIES) {
            // From the deepest up; a folder with another step in it stays, and is removed with the last.
            for (int depth = below().getNameCount(); depth > 0; depth--) {
                Path folder = ROOT.resolve(hierarchy).resolve(below().subpath(0, depth));
                Poll.until("the end of " + folder, LIMIT, "rmdir " + folder, () -> isRemoved(folder));
            }
        }
    }

    private static boolean isRemoved(Path folder) throws IOException {
        if (folder.toFile().delete() || !Files.exists(folder)) {
            return true;
        }
        try (Stream<Path> inside = Files.list(folder)) {
            return inside.anyMatch(Files::isDirectory);
        }
    }

    @Override
    public void close() throws IOException {
        stop();
    }

    private List<String> processes() throws IOException {
        return Files.readAllLines(folder("freezer").resolve("cgroup.procs"));
    }

    private Path below() {
        return Path.of("slurm_" + node, "uid_0", "job_" + job, "step_0", "task_0");
    }

    private Path folder(String hierarchy) {
        return ROOT.resolve(hierarchy).resolve(below());
    }

    private static void inherit(String file, Path above, Path folder) throws IOException {
        write(folder.resolve(file), Files.readString(above.resolve(file)).strip());
    }

    private static void write(Path file, String text) throws IOException {
        Files.writeString(file, text, StandardCharsets.US_ASCII, StandardOpenOption.WRITE);
    }
}
