package org.cloister.relay;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.daemon.TomlReader;
import org.cloister.relay.slurm.Partitions;
import org.cloister.relay.slurm.SlurmSettings;
import org.cloister.relay.state.Network;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.ticket.TicketTimes;

/** The tables {@code slurm} and {@code network} of the relay's configuration. */
final class TicketConfig {
    private static final int HOUR_S = 3600;
    private static final int DAY_S = 86_400;

    private TicketConfig() {}

    /** Without a partition the relay takes no tickets, without one of controlling VMs no openings. */
    static Optional<SlurmSettings> slurm(TomlReader toml) {
        boolean given = toml.has("slurm.partition");
        String partition = toml.text("slurm.partition", "none");
        Optional<String> controllers = toml.has("slurm.controllers")
                ? Optional.of(toml.text("slurm.controllers", partition))
                : Optional.empty();
        String user = toml.text("slurm.user", System.getProperty("user.name"));
        List<String> step = List.of(toml.text("slurm.step", String.join(" ", SlurmSettings.DEFAULT_STEP))
                .split(" "));
        Optional<Path> programs = toml.path("slurm.programs");
        Optional<Path> configuration = toml.path("slurm.configuration");
        SlurmSettings settings;
        try {
            settings = new SlurmSettings(
                    programs,
                    configuration,
                    user,
                    new Partitions(partition, controllers),
                    step,
                    toml.seconds("slurm.limit", SlurmSettings.DEFAULT_LIMIT, 1, HOUR_S));
        } catch (IllegalArgumentException e) {
            toml.problem("slurm.partition", String.valueOf(e.getMessage()));
            return Optional.empty();
        }
        return given ? Optional.of(settings) : Optional.empty();
    }

    static TicketTimes times(TomlReader toml) {
        TicketTimes otherwise = TicketTimes.DEFAULT;
        return new TicketTimes(
                toml.seconds("slurm.boot", otherwise.boot(), 60, HOUR_S),
                toml.seconds("slurm.erase", otherwise.erase(), 60, HOUR_S),
                toml.seconds("slurm.look", otherwise.look(), 1, 60),
                toml.seconds("slurm.settle", otherwise.settle(), 1, HOUR_S),
                toml.seconds("slurm.hosts", otherwise.hosts(), 1, HOUR_S),
                toml.seconds("network.lease", otherwise.lease(), 60, 30 * DAY_S));
    }

    static NetworkPool pool(TomlReader toml) {
        NetworkPool otherwise = NetworkPool.DEFAULT;
        int prefix = toml.number("network.prefix", otherwise.prefix(), 16, 29);
        int first = toml.number("network.first-vlan", otherwise.firstVlan(), 1, 4094);
        int last = toml.number("network.last-vlan", otherwise.lastVlan(), 1, 4094);
        Set<Integer> reserved = toml.numbers("network.reserved-vlans", 1, 4094);
        String range = toml.text("network.range", otherwise.network().toString());
        try {
            return new NetworkPool(
                    Network.parse(range),
                    prefix,
                    first,
                    last,
                    reserved,
                    toml.seconds("network.rest", otherwise.rest(), 0, 7 * DAY_S));
        } catch (IllegalArgumentException e) {
            toml.problem("network.range", String.valueOf(e.getMessage()));
            return otherwise;
        }
    }
}
