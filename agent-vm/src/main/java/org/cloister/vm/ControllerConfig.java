package org.cloister.vm;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.daemon.TomlReader;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.plugin.PluginData;
import org.cloister.vm.queue.ControllerSettings;
import org.cloister.vm.slurm.LocalConfiguration;
import org.cloister.vm.slurm.LocalSlurm;

/**
 * What {@code controller.toml} says, of a project's queue and of what its site has.
 *
 * @param state a folder of agent-vm's own
 * @param run a folder on tmpfs
 * @param members {@link org.cloister.vm.users.Members}' file
 * @param homes the folder of all homes
 * @param metrics for node_exporter; none if empty
 */
public record ControllerConfig(
        ControllerSettings settings,
        SlurmSite slurm,
        Path state,
        Path run,
        Path members,
        Path homes,
        Optional<Path> metrics) {
    private static final int HOUR_S = 3600;
    private static final int MAX_TICKETS = 4096;
    private static final int MAX_SHAPES = 64;
    private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9-]{0,39}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.:-]{0,252}");
    private static final Pattern FEATURE = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    /** @throws org.cloister.daemon.BadConfigException with all that is wrong */
    public static ControllerConfig load(Path file) throws IOException {
        TomlReader toml = TomlReader.open(file);
        ControllerSettings settings = settings(toml);
        SlurmSite slurm = slurm(toml);
        settings.shapes().stream()
                .mapToLong(Shape::memoryMib)
                .max()
                .ifPresent(largest -> requireRoom(toml, slurm.memoryPerCpuMib(), largest));
        Path state = toml.path("state", "/var/lib/cloister/vm");
        Path run = toml.path("run", "/run/cloister");
        Path members = toml.path("members", "/etc/cloister/members.toml");
        Path homes = toml.path("homes", "/project/home");
        Optional<Path> metrics = toml.path("metrics");
        if (metrics.isPresent() && !metrics.get().toString().endsWith(".prom")) {
            toml.problem("metrics", "want a name that ends in .prom, have \"" + metrics.get() + "\"");
        }
        toml.finish();
        return new ControllerConfig(settings, slurm, state, run, members, homes, metrics);
    }

    /** A file that agent-vm makes: whoever writes to it has the queue looked at. */
    public Path bell() {
        return run.resolve("bell");
    }

    /** {@link org.cloister.vm.status.StatusFiles}' folder. */
    public Path statuses() {
        return run.resolve("jobs");
    }

    /** What users' commands have for a slurm.conf. */
    public Path clients() {
        return run.resolve("slurm.conf");
    }

    /**
     * The Local Slurm's slurm.conf: what a job may be and what it gets if it does not say is the same there, in tickets and
     * in the plugin.
     *
     * @see LocalConfiguration
     */
    public LocalConfiguration localConfiguration(String host, String address, Path slurmState, Path hooks) {
        return new LocalConfiguration(
                slurm.cluster(),
                host,
                address,
                slurmState,
                hooks,
                Optional.of(slurm.accounting()),
                settings.shapes(),
                slurm.memoryPerCpuMib(),
                settings.longest());
    }

    /** @see PluginData */
    public PluginData pluginData(int release) {
        return new PluginData(release, bell(), settings.features(), settings.shapes(), slurm.memoryPerCpuMib());
    }

    private static ControllerSettings settings(TomlReader toml) {
        List<String> features = toml.texts(
                "queue.features",
                ResourceRequest.MAX_FEATURES,
                FEATURE,
                "names of up to 64 letters, digits, dots, dashes");
        if (features.contains(LocalSlurm.UNPLACED)) {
            toml.problem("queue.features", "want no \"" + LocalSlurm.UNPLACED + "\": waiting jobs have it");
        }
        return new ControllerSettings(
                toml.number("queue.tickets", 64, 1, MAX_TICKETS),
                shapes(toml),
                features,
                toml.number("queue.attempts", 3, 1, 100),
                toml.seconds("queue.start-limit", Duration.ofSeconds(30), 5, HOUR_S),
                toml.seconds("queue.longest", Duration.ofDays(7), 60, ResourceRequest.MAX_MINUTES * 60));
    }

    /** A job that says no memory would fit nowhere. */
    private static void requireRoom(TomlReader toml, int memoryPerCpuMib, long largest) {
        if (memoryPerCpuMib > largest) {
            toml.problem(
                    "slurm.memory-per-cpu",
                    "want at most " + largest + ", the memory-mib of the largest shape, have " + memoryPerCpuMib);
        }
    }

    private static List<Shape> shapes(TomlReader toml) {
        List<Shape> shapes = new ArrayList<>();
        for (TomlReader table : toml.tables("shape", MAX_SHAPES)) {
            table.require("hosts", "cpus", "memory-mib");
            shapes.add(new Shape(
                    table.number("hosts", 1, 1, LocalConfiguration.MAX_HOSTS),
                    table.number("cpus", 1, 1, ResourceRequest.MAX_CPUS),
                    table.number("memory-mib", 1, 1, ResourceRequest.MAX_MIB),
                    table.number("scratch-mib", 0, 0, ResourceRequest.MAX_MIB)));
        }
        if (shapes.isEmpty()) {
            toml.problem("shape", "want at least one table [[shape]], have none");
        }
        long hosts = shapes.stream().mapToLong(Shape::hosts).sum();
        if (hosts > LocalConfiguration.MAX_HOSTS) {
            toml.problem("shape", "want at most " + LocalConfiguration.MAX_HOSTS + " hosts in all, have " + hosts);
        }
        return shapes;
    }

    private static SlurmSite slurm(TomlReader toml) {
        return new SlurmSite(
                word(
                        toml,
                        "slurm.cluster",
                        "project",
                        CLUSTER,
                        "a name of up to 40 lower-case letters, digits, dashes"),
                word(toml, "slurm.accounting", "127.0.0.1", HOST, "a machine's name or address"),
                toml.number("slurm.memory-per-cpu", 1024, 1, ResourceRequest.MAX_MIB),
                toml.path("slurm.programs"),
                toml.path("slurm.configuration"),
                toml.seconds("slurm.limit", Duration.ofSeconds(15), 1, HOUR_S));
    }

    private static String word(TomlReader toml, String key, String otherwise, Pattern want, String form) {
        String text = toml.text(key, otherwise);
        if (!want.matcher(text).matches()) {
            toml.problem(key, "want " + form + ", have \"" + text + "\"");
        }
        return text;
    }
}
