package org.cloister.vm.controller.config;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.daemon.TomlReader;
import org.cloister.protocol.ticket.MemoryFormula;
import org.cloister.protocol.ticket.MemoryReserve;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.queue.QueueSettings;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.worker.scratch.ScratchSize;

/**
 * Settings of a project's queue, independent of its machine: tables {@code [queue]} and {@code [[shape]]}, {@code
 * memory-per-cpu} of {@code [slurm]}, and {@code [memory]}.
 *
 * @param memoryPerCpuMib default of a job that requests no memory
 * @param reserves of the site's hosts
 */
public record ProjectSettings(QueueSettings queue, int memoryPerCpuMib, MemoryReserves reserves) {
    private static final int HOUR_S = 3600;
    private static final int MAX_TICKETS = 4096;
    private static final int MAX_SHAPES = 64;
    private static final Pattern FEATURE = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    /**
     * Reads a file that has no other settings.
     *
     * @param file named in error messages
     * @throws org.cloister.daemon.InvalidConfigException with all problems
     */
    public static ProjectSettings read(Path file, byte[] content) throws IOException {
        TomlReader toml = TomlReader.of(file, content);
        ProjectSettings settings = read(toml);
        toml.finish();
        return settings;
    }

    /** Reads a file that has other settings too. */
    static ProjectSettings read(TomlReader toml) {
        QueueSettings queue = queue(toml);
        int memoryPerCpuMib = toml.number("slurm.memory-per-cpu", 1024, 1, ResourceRequest.MAX_MIB);
        queue.shapes().stream()
                .mapToLong(HostShape::memoryMib)
                .max()
                .ifPresent(largest -> requireRoom(toml, memoryPerCpuMib, largest));
        MemoryReserves defaults = MemoryReserves.defaults(false);
        MemoryReserves reserves =
                new MemoryReserves(reserve(toml, "guest", defaults.guest()), reserve(toml, "qemu", defaults.qemu()));
        requireStep(toml, queue.shapes(), reserves);
        return new ProjectSettings(queue, memoryPerCpuMib, reserves);
    }

    private static QueueSettings queue(TomlReader toml) {
        List<String> features = toml.texts(
                "queue.features",
                ResourceRequest.MAX_FEATURES,
                FEATURE,
                "names of up to 64 letters, digits, dots, dashes");
        if (features.contains(LocalSlurm.UNPLACED)) {
            toml.problem("queue.features", "want no \"" + LocalSlurm.UNPLACED + "\": waiting jobs have it");
        }
        return new QueueSettings(
                toml.number("queue.tickets", 64, 1, MAX_TICKETS),
                shapes(toml),
                features,
                toml.number("queue.attempts", 3, 1, 100),
                toml.seconds("queue.start-limit", Duration.ofSeconds(30), 5, HOUR_S),
                toml.seconds("queue.longest", Duration.ofDays(7), 60, ResourceRequest.MAX_MINUTES * 60));
    }

    private static MemoryReserve reserve(TomlReader toml, String of, MemoryReserve defaults) {
        return new MemoryReserve(
                toml.number("memory." + of + "-mib", defaults.fixedMib(), 0, ResourceRequest.MAX_MIB),
                toml.number("memory." + of + "-one-in", defaults.oneIn(), 1, ResourceRequest.MAX_MIB));
    }

    /** Reports a shape whose memory or disk no VM could be requested with. */
    private static void requireStep(TomlReader toml, List<HostShape> shapes, MemoryReserves reserves) {
        for (HostShape shape : shapes) {
            try {
                MemoryFormula.forRequest(Math.toIntExact(shape.memoryMib()), reserves);
            } catch (IllegalArgumentException e) {
                toml.problem("shape", "memory-mib: " + e.getMessage());
            }
            try {
                ScratchSize.disk(Math.toIntExact(Math.max(1, shape.scratchMib())));
            } catch (IllegalArgumentException e) {
                toml.problem("shape", "scratch-mib: " + e.getMessage());
            }
        }
    }

    /** Reports a default with which a job that requests no memory would fit nowhere. */
    private static void requireRoom(TomlReader toml, int memoryPerCpuMib, long largest) {
        if (memoryPerCpuMib > largest) {
            toml.problem(
                    "slurm.memory-per-cpu",
                    "want at most " + largest + ", the memory-mib of the largest shape, have " + memoryPerCpuMib);
        }
    }

    private static List<HostShape> shapes(TomlReader toml) {
        List<HostShape> shapes = new ArrayList<>();
        for (TomlReader table : toml.tables("shape", MAX_SHAPES)) {
            table.require("hosts", "cpus", "memory-mib");
            shapes.add(new HostShape(
                    table.number("hosts", 1, 1, LocalSlurmConf.MAX_HOSTS),
                    table.number("cpus", 1, 1, ResourceRequest.MAX_CPUS),
                    table.number("memory-mib", 1, 1, ResourceRequest.MAX_MIB),
                    table.number("scratch-mib", 0, 0, ResourceRequest.MAX_MIB)));
        }
        if (shapes.isEmpty()) {
            toml.problem("shape", "want at least one table [[shape]], have none");
        }
        long hosts = shapes.stream().mapToLong(HostShape::hosts).sum();
        if (hosts > LocalSlurmConf.MAX_HOSTS) {
            toml.problem("shape", "want at most " + LocalSlurmConf.MAX_HOSTS + " hosts in all, have " + hosts);
        }
        return shapes;
    }
}
