package org.cloister.ovs;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which bridge, and how to look after it.
 *
 * @param runDirectory where Open vSwitch has its sockets, ordinarily {@code /var/run/openvswitch}
 * @param agent whose ports are ours, on the bridge of others' too; one word
 * @param uplink the device of the VLAN trunk to the other hosts; null for none. A port of it that somebody else made is
 *     used as it is
 * @param datapath {@code system} for the kernel's, {@code netdev} for the one in user space
 * @param deadline for one change
 * @param audit how often flows are read back when nothing happens
 */
public record BridgeConfig(
        String bridge,
        Path runDirectory,
        String agent,
        @Nullable String uplink,
        String datapath,
        Duration deadline,
        Duration audit) {
    /** As every host has it. */
    public static BridgeConfig of(Path runDirectory, @Nullable String uplink) {
        return new BridgeConfig(
                "br-secure",
                runDirectory,
                "agent-host",
                uplink,
                "system",
                Duration.ofSeconds(10),
                Duration.ofSeconds(10));
    }

    public BridgeConfig withDatapath(String newDatapath) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, newDatapath, deadline, audit);
    }

    public BridgeConfig within(Duration newDeadline) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, datapath, newDeadline, audit);
    }

    public BridgeConfig audited(Duration every) {
        return new BridgeConfig(bridge, runDirectory, agent, uplink, datapath, deadline, every);
    }

    Path databaseSocket() {
        return runDirectory.resolve("db.sock");
    }

    Path flowSocket() {
        return runDirectory.resolve(bridge + ".mgmt");
    }
}
