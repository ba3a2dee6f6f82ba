package org.cloister.ovs;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of one bridge and of its maintenance.
 *
 * @param runDirectory where Open vSwitch has its sockets, ordinarily {@code /var/run/openvswitch}
 * @param agent name of the agent that owns our ports, also on a bridge shared with others; one word
 * @param uplink the device of the VLAN trunk to the other hosts; null for no trunk. A port of it that another program
 *     made is used unchanged
 * @param datapath {@code system} for the kernel's, {@code netdev} for the one in user space
 * @param devicePrefix the prefix that each port's device must have: all devices with it are kept away from the host's
 *     network stack
 * @param nft the program of nftables, or a command that runs it where the devices are
 * @param deadline for one change
 * @param audit interval at which flows are read back when nothing happens
 */
public record BridgeConfig(
        String bridge,
        Path runDirectory,
        String agent,
        @Nullable String uplink,
        String datapath,
        String devicePrefix,
        List<String> nft,
        Duration deadline,
        Duration audit) {
    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,11}");

    public BridgeConfig {
        if (!PREFIX.matcher(devicePrefix).matches()) {
            throw new IllegalArgumentException(
                    "device prefix: want 1 to 12 characters of a device's name, have \"" + devicePrefix + "\"");
        }
        nft = List.copyOf(nft);
    }

    /** Returns the configuration that every host has. */
    public static BridgeConfig of(Path runDirectory, @Nullable String uplink) {
        return new BridgeConfig(
                "br-secure",
                runDirectory,
                "agent-host",
                uplink,
                "system",
                "cl-",
                List.of("/usr/sbin/nft"),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10));
    }

    public BridgeConfig withDatapath(String newDatapath) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, newDatapath, devicePrefix, nft, deadline, audit);
    }

    public BridgeConfig within(Duration newDeadline) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, datapath, devicePrefix, nft, newDeadline, audit);
    }

    public BridgeConfig audited(Duration every) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, datapath, devicePrefix, nft, deadline, every);
    }

    public BridgeConfig withNft(List<String> command) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, datapath, devicePrefix, command, deadline, audit);
    }

    Path databaseSocket() {
        return runDirectory.resolve("db.sock");
    }

    Path flowSocket() {
        return runDirectory.resolve(bridge + ".mgmt");
    }
}
