package org.cloister.host;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.daemon.TomlReader;

/**
 * Table {@code slurm} of the host's configuration: how this host calls the Global Slurm.
 *
 * @param node this host's name in the Global Slurm
 * @param account the relay's user; only jobs of this user carry tickets
 * @param programs folder of squeue and scontrol; empty to use PATH
 * @param configuration a slurm.conf; empty for the programs' default
 * @param limit time limit of each program run
 */
public record HostSlurmConfig(
        String node, String account, Optional<Path> programs, Optional<Path> configuration, Duration limit) {
    private static final int HOUR_S = 3600;
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,63}");
    private static final Pattern ACCOUNT = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");

    static HostSlurmConfig read(TomlReader toml, String node) {
        return new HostSlurmConfig(
                HostConfig.word(toml, "slurm.node", node, NODE, "this host's name in Global Slurm"),
                HostConfig.word(toml, "slurm.account", "cloister-relay", ACCOUNT, "a user's name"),
                HostConfig.path(toml, "slurm.programs"),
                HostConfig.path(toml, "slurm.configuration"),
                toml.seconds("slurm.limit", Duration.ofSeconds(15), 1, HOUR_S));
    }
}
