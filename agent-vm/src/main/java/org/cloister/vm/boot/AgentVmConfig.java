package org.cloister.vm.boot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.daemon.TomlReader;

/**
 * Contents of {@code /etc/cloister/agent-vm.toml}: the few settings that a site makes in an image. All other settings
 * come over the channel.
 *
 * @param port the device of the channel; found by the port's name if empty
 * @param run a folder on tmpfs
 * @param metrics file for node_exporter; if empty, no metrics are written
 * @param log the lowest level that is logged
 */
public record AgentVmConfig(Optional<Path> port, Path run, Optional<Path> metrics, String log) {
    public static final Path DEFAULT_FILE = Path.of("/etc/cloister/agent-vm.toml");

    private static final List<String> LEVELS = List.of("error", "warn", "info", "debug", "trace");
    private static final Path RUN = Path.of("/run/cloister");
    private static final String LOG = "info";

    /**
     * Loads the configuration. Returns the defaults if the default file is missing; a file that was named must exist.
     *
     * @throws org.cloister.daemon.InvalidConfigException with all errors in the file
     */
    public static AgentVmConfig load(Path file) throws IOException {
        if (file.equals(DEFAULT_FILE) && Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return new AgentVmConfig(Optional.empty(), RUN, Optional.empty(), LOG);
        }
        TomlReader toml = TomlReader.open(file);
        Optional<Path> port = toml.path("port");
        Path run = toml.path("run", RUN.toString());
        Optional<Path> metrics = toml.path("metrics");
        if (metrics.isPresent() && !metrics.get().toString().endsWith(".prom")) {
            toml.problem("metrics", "want a name that ends in .prom, have \"" + metrics.get() + "\"");
        }
        String log = toml.text("log", LOG);
        if (!LEVELS.contains(log)) {
            toml.problem("log", "want one of " + String.join(", ", LEVELS) + ", have \"" + log + "\"");
        }
        toml.finish();
        return new AgentVmConfig(port, run, metrics, log);
    }

    /** Returns the path of {@link AgentVmStatusFile}. */
    public Path status() {
        return run.resolve("agent-vm.status");
    }

    /** Returns the path of {@link org.cloister.vm.system.volume.VolumeStatusFile}. */
    public Path volumes() {
        return run.resolve("agent-vm.volumes");
    }
}
