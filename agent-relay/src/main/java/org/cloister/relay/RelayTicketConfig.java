package org.cloister.relay;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.address.Ipv4Network;
import org.cloister.daemon.TomlReader;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurmSettings;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.tickets.TicketTimeouts;

/** Reads the tables {@code slurm} and {@code network} of the relay's configuration. */
final class RelayTicketConfig {
    private static final int HOUR_S = 3600;
    private static final int DAY_S = 86_400;

    private RelayTicketConfig() {}

    /**
     * Reads the table {@code slurm}. Without a partition the relay accepts no tickets; without a partition for
     * controlling VMs it accepts no openings.
     */
    static Optional<GlobalSlurmSettings> slurm(TomlReader toml) {
        boolean configured = toml.has("slurm.partition");
        String partition = toml.text("slurm.partition", "none");
        Optional<String> controllers = toml.has("slurm.controllers")
                ? Optional.of(toml.text("slurm.controllers", partition))
                : Optional.empty();
        String user = toml.text("slurm.user", System.getProperty("user.name"));
        List<String> step = List.of(toml.text("slurm.step", String.join(" ", GlobalSlurmSettings.DEFAULT_STEP))
                .split(" "));
        Optional<Path> programs = toml.path("slurm.programs");
        Optional<Path> configuration = toml.path("slurm.configuration");
        GlobalSlurmSettings settings;
        try {
            settings = new GlobalSlurmSettings(
                    programs,
                    configuration,
                    user,
                    new GlobalPartitions(partition, controllers),
                    step,
                    toml.seconds("slurm.limit", GlobalSlurmSettings.DEFAULT_LIMIT, 1, HOUR_S));
        } catch (IllegalArgumentException e) {
            toml.problem("slurm.partition", String.valueOf(e.getMessage()));
            return Optional.empty();
        }
        return configured ? Optional.of(settings) : Optional.empty();
    }

    static TicketTimeouts times(TomlReader toml) {
        TicketTimeouts defaults = TicketTimeouts.DEFAULT;
        return new TicketTimeouts(
                toml.seconds("slurm.boot", defaults.bootTime(), 60, HOUR_S),
                toml.seconds("slurm.erase", defaults.eraseTime(), 60, HOUR_S),
                toml.seconds("slurm.look", defaults.pollInterval(), 1, 60),
                toml.seconds("slurm.settle", defaults.submissionSettleTime(), 1, HOUR_S),
                toml.seconds("slurm.hosts", defaults.hostTimeout(), 1, HOUR_S),
                toml.seconds("network.lease", defaults.vlanLease(), 60, 30 * DAY_S));
    }

    static NetworkPool pool(TomlReader toml) {
        NetworkPool defaults = NetworkPool.DEFAULT;
        int prefix = toml.number("network.prefix", defaults.prefix(), 16, 29);
        int first = toml.number("network.first-vlan", defaults.firstVlan(), 1, 4094);
        int last = toml.number("network.last-vlan", defaults.lastVlan(), 1, 4094);
        Set<Integer> reserved = toml.numbers("network.reserved-vlans", 1, 4094);
        String range = toml.text("network.range", defaults.network().toString());
        try {
            return new NetworkPool(
                    Ipv4Network.parse(range),
                    prefix,
                    first,
                    last,
                    reserved,
                    toml.seconds("network.rest", defaults.reuseDelay(), 0, 7 * DAY_S));
        } catch (IllegalArgumentException e) {
            toml.problem("network.range", String.valueOf(e.getMessage()));
            return defaults;
        }
    }
}
