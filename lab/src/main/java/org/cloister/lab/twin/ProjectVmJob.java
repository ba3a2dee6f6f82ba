package org.cloister.lab.twin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.project.WorkingProject;

/** Runs and measures a member's job of one node in a project of ours, whose controlling VM runs. */
public final class ProjectVmJob implements AutoCloseable {
    private static final String BRIDGE = "br-secure";
    /** Line in the journal of its worker, by the time since the kernel's start. */
    private static final Pattern OFF = Pattern.compile("\\[ *([0-9.]+)\\] .*the worker ended: ");

    private final WorkingProject project;
    private final Path log;

    /** Shape of a worker's VM, which the twin's has as well. */
    public record Shape(String cpus, String memoryMib) {}

    /** @param shape of the worker's VM */
    public record Result(JobTimes times, Shape shape) {}

    private ProjectVmJob(WorkingProject project, Path log) {
        this.project = project;
        this.log = log;
    }

    /** @param folder an empty one */
    public static ProjectVmJob at(Lab lab, Path folder) throws IOException {
        WorkingProject project = WorkingProject.at(lab, folder);
        for (String file : List.of("follow.sh", "job.sh")) {
            project.stage().member.put(Files.writeString(folder.resolve(file), TwinImage.text(file)));
        }
        return new ProjectVmJob(project, lab.host(1).log("agent-host"));
    }

    public Result run() throws IOException {
        Lab lab = project.stage().site().lab();
        Set<Long> before = WorkerQemu.all();
        SiteHoldings held = SiteHoldings.of(lab, BRIDGE);
        TracedJob job = new TracedJob();
        CompletableFuture<Boolean> follow = CompletableFuture.supplyAsync(() -> {
            try {
                project.stage().member.follow("bash follow.sh agent-vm", job);
                return true;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        WorkerQemu qemu = WorkerQemu.await(lab, before, log);
        double end = qemu.awaitEnd();
        SiteHoldings.ReleaseTimes free = held.awaitFree(lab, BRIDGE);
        follow.join();
        Map<String, Double> phases = phases(job);
        double off = job.worker(poweroff(qemu.name()));
        return new Result(JobTimes.of(job, qemu, end, off, free, phases), new Shape(qemu.cpus(), qemu.memoryMib()));
    }

    private double poweroff(String worker) throws LabException {
        String output = project.stage().site().consoles().of(worker);
        Matcher off = OFF.matcher(output);
        if (!off.find()) {
            throw new LabException(
                    worker + ": its console does not say that it goes off: "
                            + output.lines().count() + " lines",
                    "read it: " + output);
        }
        return Double.parseDouble(off.group(1));
    }

    /** Returns the phases in the job's record, and the phase from their end to the first line of its script. */
    private Map<String, Double> phases(TracedJob job) throws IOException {
        double before = project.phases(job.id()).values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
        Map<String, Double> phases = project.all(job.id());
        phases.put("start", job.submitToStart() - before);
        return phases;
    }

    @Override
    public void close() throws IOException {
        project.close();
    }
}
