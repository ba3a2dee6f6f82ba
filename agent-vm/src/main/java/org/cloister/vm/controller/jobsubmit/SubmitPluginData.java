package org.cloister.vm.controller.jobsubmit;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;

/**
 * Data of the submit plugin about the project and the site.
 *
 * @param release of this data, greater with each change; {@link JobSubmitPlugin} asks slurmctld which one it runs
 * @param notifyFile file that is written to at each submission; absolute
 * @param features that users may name, by their positions in the approval's list
 * @param shapes of the site's hosts; at least one
 * @param memoryPerCpuMib of a job that requests no memory, as slurm.conf's DefMemPerCPU
 */
public record SubmitPluginData(
        int release, Path notifyFile, List<String> features, List<HostShape> shapes, long memoryPerCpuMib) {
    /** Limits the work inside slurmctld at each submission. */
    public static final int MAX_SHAPES = 64;

    private static final Pattern NOTIFY_FILE = Pattern.compile("/[A-Za-z0-9_./-]{1,200}");
    private static final Pattern FEATURE = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    public SubmitPluginData {
        features = List.copyOf(features);
        shapes = List.copyOf(shapes);
        if (release < 1) {
            throw new IllegalArgumentException("release: want at least 1, have " + release);
        }
        if (!NOTIFY_FILE.matcher(notifyFile.toString()).matches()) {
            throw new IllegalArgumentException("bell: want " + NOTIFY_FILE + ", have " + notifyFile);
        }
        if (features.size() > ResourceRequest.MAX_FEATURES || new HashSet<>(features).size() < features.size()) {
            throw new IllegalArgumentException(
                    "features: want at most " + ResourceRequest.MAX_FEATURES + ", each once, have " + features.size());
        }
        for (String each : features) {
            if (!FEATURE.matcher(each).matches()) {
                throw new IllegalArgumentException("features: want " + FEATURE + ", have " + each);
            }
        }
        if (shapes.isEmpty() || shapes.size() > MAX_SHAPES) {
            throw new IllegalArgumentException("shapes: want 1 to " + MAX_SHAPES + ", have " + shapes.size());
        }
        long largest = shapes.stream().mapToLong(HostShape::memoryMib).max().orElseThrow();
        if (memoryPerCpuMib < 1 || memoryPerCpuMib > largest) {
            throw new IllegalArgumentException("memory of a CPU: want 1 to " + largest
                    + " MiB, which the site's largest host has, have " + memoryPerCpuMib);
        }
    }

    /**
     * Returns a Lua table on one line.
     *
     * @param mark by which the plugin identifies itself
     */
    String lua(String mark) {
        return "{mark = \"%s\", bell = \"%s\", features = {%s}, shapes = {%s}, memory_per_cpu = %d}"
                .formatted(
                        mark,
                        notifyFile,
                        features.stream().map(each -> '"' + each + '"').collect(Collectors.joining(", ")),
                        shapes.stream().map(SubmitPluginData::lua).collect(Collectors.joining(", ")),
                        memoryPerCpuMib);
    }

    private static String lua(HostShape shape) {
        return "{hosts = %d, cpus = %d, memory = %d, scratch = %d}"
                .formatted(shape.hosts(), shape.cpus(), shape.memoryMib(), shape.scratchMib());
    }
}
