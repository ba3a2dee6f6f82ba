package org.cloister.host;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.MalformedException;
import org.cloister.daemon.TomlReader;
import org.cloister.ovs.BridgeConfig;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.ticket.ResourceRequest;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of agent-host, as read from {@code /etc/cloister/agent-host.toml}.
 *
 * @param folders of the host's own files
 * @param scratchMib MiB that all scratch disks may use together; empty for the size of their file system
 * @param credentials with which the host proves its identity
 * @param relays addresses to connect to, tried in turn; names are resolved at each attempt
 * @param relayNames the site's relays that the host accepts; empty to accept each of them
 * @param group whose members may make every request except to run a VM
 * @param metrics loopback address that Prometheus scrapes; null for no endpoint
 */
public record HostConfig(
        Folders folders,
        OptionalInt scratchMib,
        Credentials credentials,
        List<InetSocketAddress> relays,
        Set<CertificateName> relayNames,
        String group,
        @Nullable InetSocketAddress metrics,
        HostSlurmConfig slurm,
        HostLibvirtConfig libvirt,
        BridgeConfig bridge,
        HostVmConfig vm) {
    private static final int MAX_RELAYS = 16;
    private static final Pattern RELAY_NAME = Pattern.compile("[a-z0-9.-]{1,253}");
    private static final Pattern GROUP = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");
    /** Name of an interface or a bridge, of at most 15 characters. */
    private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,14}");
    /** Characters that no layer between here and QEMU's options interprets. */
    private static final Pattern FILE = Pattern.compile("/[A-Za-z0-9_.+~@:/-]{1,254}");
    /** A VM's folder and a socket in it add 44 characters, and a socket's path has at most 107. */
    private static final int MAX_STATE = 63;

    /**
     * Folders and sockets of agent-host.
     *
     * @param state ledger, VM folders and statements; not on the file system of {@code scratch}
     * @param images the guest images, one folder for each
     * @param socket control socket for agentctl
     * @param root socket of agent-host-root, used when agent-host does not run as root
     */
    public record Folders(Path state, Path scratch, Path images, Path socket, Path root) {}

    /**
     * Files with the host's key and certificates.
     *
     * @param certificate the host's certificate chain in PEM
     * @param key its private key, PKCS #8 in PEM
     * @param site certificates of the site CA in PEM
     */
    public record Credentials(Path certificate, Path key, Path site) {}

    public HostConfig {
        relays = List.copyOf(relays);
        relayNames = Set.copyOf(relayNames);
    }

    /**
     * Reads and validates a configuration file.
     *
     * @param node this host's name in the Global Slurm, unless the file sets it
     * @throws org.cloister.daemon.InvalidConfigException listing every error of the file
     */
    public static HostConfig load(Path file, String node) throws IOException {
        TomlReader toml = TomlReader.open(file);
        InetSocketAddress metrics = toml.address("metrics", null);
        if (metrics != null && !metrics.getAddress().isLoopbackAddress()) {
            toml.problem("metrics", "want an address of loopback such as \"127.0.0.1:9465\", have \"" + metrics + "\"");
        }
        HostConfig config = new HostConfig(
                folders(toml),
                scratch(toml),
                new Credentials(
                        path(toml, "certificate", "/var/lib/cloister/host/host.pem"),
                        path(toml, "key", "/var/lib/cloister/host/host.key"),
                        path(toml, "site", "/etc/cloister/site.pem")),
                relays(toml),
                relayNames(toml),
                word(toml, "group", "cloister", GROUP, "a group's name"),
                metrics,
                HostSlurmConfig.read(toml, node),
                HostLibvirtConfig.read(toml),
                bridge(toml),
                HostVmConfig.read(toml));
        toml.finish();
        return config;
    }

    private static Folders folders(TomlReader toml) {
        Path state = path(toml, "state", "/var/lib/cloister/host");
        if (state.toString().length() > MAX_STATE) {
            toml.problem(
                    "state",
                    "expected at most " + MAX_STATE + " characters, because sockets are created below it, got "
                            + state.toString().length());
        }
        return new Folders(
                state,
                path(toml, "scratch", "/var/lib/cloister/scratch"),
                path(toml, "images", "/var/lib/cloister/images"),
                path(toml, "socket", "/run/cloister/agent-host.sock"),
                path(toml, "root", "/run/cloister/agent-host-root.sock"));
    }

    private static OptionalInt scratch(TomlReader toml) {
        return toml.has("scratch-mib")
                ? OptionalInt.of(toml.number("scratch-mib", 1, 1, ResourceRequest.MAX_MIB))
                : OptionalInt.empty();
    }

    private static List<InetSocketAddress> relays(TomlReader toml) {
        List<InetSocketAddress> relays = new ArrayList<>();
        toml.require("relays");
        for (String each :
                toml.texts("relays", MAX_RELAYS, HostPort.FORM, "HOST:PORT such as \"relay.example.org:7443\"")) {
            try {
                relays.add(HostPort.parse(each).unresolved());
            } catch (IllegalArgumentException e) {
                toml.problem("relays", String.valueOf(e.getMessage()));
            }
        }
        return relays;
    }

    private static Set<CertificateName> relayNames(TomlReader toml) {
        Set<CertificateName> names = new LinkedHashSet<>();
        for (String each : toml.texts("relay-names", MAX_RELAYS, RELAY_NAME, "relays' names")) {
            try {
                CertificateName name = CertificateName.parse(each);
                if (!name.role().equals(CertificateRole.RELAY.toString())
                        || !name.project().equals(CertificateName.SITE)) {
                    throw new MalformedException("want a relay of the site, have " + name);
                }
                names.add(name);
            } catch (MalformedException e) {
                toml.problem("relay-names", String.valueOf(e.getMessage()));
            }
        }
        return names;
    }

    private static BridgeConfig bridge(TomlReader toml) {
        Path run = path(toml, "bridge.open-vswitch", "/var/run/openvswitch");
        String name = word(toml, "bridge.name", "br-secure", DEVICE, "a bridge's name of up to 15 characters");
        String uplink = toml.has("bridge.uplink")
                ? word(toml, "bridge.uplink", "uplink", DEVICE, "a device's name of up to 15 characters")
                : null;
        String datapath = toml.text("bridge.datapath", "system");
        if (!datapath.equals("system") && !datapath.equals("netdev")) {
            toml.problem("bridge.datapath", "want \"system\" or \"netdev\", have \"" + datapath + "\"");
        }
        BridgeConfig defaults = BridgeConfig.of(run, uplink);
        return new BridgeConfig(
                name,
                run,
                defaults.agent(),
                uplink,
                datapath,
                defaults.devicePrefix(),
                List.of(path(toml, "bridge.nft", defaults.nft().get(0)).toString()),
                toml.seconds("bridge.limit", defaults.deadline(), 1, 600),
                defaults.audit());
    }

    static Path path(TomlReader toml, String key, String defaultValue) {
        Path path = toml.path(key, defaultValue);
        if (path.isAbsolute() && (!FILE.matcher(path.toString()).matches() || !path.equals(path.normalize()))) {
            toml.problem(key, "want a path of letters, digits and _.+~@:/- without .., have \"" + path + "\"");
        }
        return path;
    }

    static Optional<Path> path(TomlReader toml, String key) {
        return toml.has(key) ? Optional.of(path(toml, key, "/")) : Optional.empty();
    }

    static String word(TomlReader toml, String key, String defaultValue, Pattern pattern, String form) {
        String text = toml.text(key, defaultValue);
        if (!pattern.matcher(text).matches()) {
            toml.problem(key, "want " + form + ", have \"" + text + "\"");
        }
        return text;
    }
}
