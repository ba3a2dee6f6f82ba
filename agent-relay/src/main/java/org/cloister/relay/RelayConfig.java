package org.cloister.relay;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.daemon.TomlReader;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.slurm.GlobalSlurmCommands;
import org.cloister.relay.slurm.GlobalSlurmSettings;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.tickets.TicketTimeouts;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the relay, read from {@code /etc/cloister/agent-relay.toml}.
 *
 * @param listen address on which agents connect
 * @param certificate the relay's own certificate chain in PEM
 * @param key the relay's private key, PKCS #8 in PEM
 * @param site certificates of the site CA in PEM: two while one replaces the other
 * @param state a folder that only the relay uses
 * @param socket path of the control socket for agentctl
 * @param metrics loopback address on which Prometheus scrapes metrics; null disables it
 * @param slurm empty for a relay that accepts no tickets
 */
record RelayConfig(
        InetSocketAddress listen,
        Path certificate,
        Path key,
        Path site,
        Path state,
        Path socket,
        @Nullable InetSocketAddress metrics,
        RelayLimits limits,
        Optional<GlobalSlurmSettings> slurm,
        TicketTimeouts times,
        NetworkPool pool) {
    private static final int DAY_S = 86_400;

    static RelayConfig load(Path file) throws IOException {
        TomlReader toml = TomlReader.open(file);
        InetSocketAddress listen = toml.address("listen", "0.0.0.0:7443");
        InetSocketAddress metrics = toml.address("metrics", null);
        if (metrics != null && !metrics.getAddress().isLoopbackAddress()) {
            toml.problem("metrics", "want an address of loopback such as \"127.0.0.1:9464\", have \"" + metrics + "\"");
        }
        RelayLimits defaults = RelayLimits.DEFAULT;
        RelayLimits limits = new RelayLimits(
                toml.number("limits.links", defaults.links(), 1, 1_000_000),
                toml.number("limits.handshakes", defaults.handshakes(), 1, 100_000),
                toml.number("limits.project-circuits", defaults.projectCircuits(), 1, 1_000_000),
                toml.number("limits.project-opens", defaults.projectOpens(), 1, 100_000),
                toml.seconds("limits.idle", defaults.idle(), 1, DAY_S),
                toml.seconds("limits.drain", defaults.drain(), 0, 600));
        Path certificate = toml.path("certificate", "/var/lib/cloister/relay/relay.pem");
        Path key = toml.path("key", "/var/lib/cloister/relay/relay.key");
        Path site = toml.path("site", "/etc/cloister/site.pem");
        Path state = toml.path("state", "/var/lib/cloister/relay");
        Path socket = toml.path("socket", "/run/cloister/relay/agent-relay.sock");
        Optional<GlobalSlurmSettings> slurm = RelayTicketConfig.slurm(toml);
        TicketTimeouts times = RelayTicketConfig.times(toml);
        NetworkPool pool = RelayTicketConfig.pool(toml);
        toml.finish();
        if (listen == null) {
            throw new IllegalStateException("the configuration has no valid listen address");
        }
        return new RelayConfig(listen, certificate, key, site, state, socket, metrics, limits, slurm, times, pool);
    }

    Optional<GlobalSlurm> globalSlurm() {
        return slurm.map(GlobalSlurmCommands::new);
    }
}
