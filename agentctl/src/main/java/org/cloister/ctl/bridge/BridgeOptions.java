package org.cloister.ctl.bridge;

import java.nio.file.Path;
import java.time.Duration;
import org.cloister.ovs.BridgeConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that select the bridge. */
public final class BridgeOptions {
    /**
     * Open vSwitch takes this long on a machine that is busy with its boot or with jobs; for a first bridge it has the
     * kernel load a module.
     */
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @Option(
            names = "--run-directory",
            paramLabel = "DIR",
            defaultValue = "/var/run/openvswitch",
            description = "Folder of Open vSwitch's sockets; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private Path runDirectory;

    @Option(
            names = "--uplink",
            paramLabel = "DEVICE",
            description = "Device of the VLAN trunk to the other hosts, as in agent-host's configuration; "
                    + "none by default.")
    private @Nullable String uplink;

    /** Returns the trunk's device as it was typed. */
    public @Nullable String uplink() {
        return uplink;
    }

    public BridgeConfig config() {
        return BridgeConfig.of(runDirectory, uplink).within(LIMIT);
    }

    /**
     * Returns the folder of the control sockets. A socket's name contains a process id unless an administrator chose
     * one, and the tool finds it.
     */
    String runDirectory() {
        return runDirectory.toString();
    }
}
