package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.NetworkMtu;

/** MTU of the VLAN trunk to the other hosts. */
final class VlanTrunk {
    /** Ethernet's MTU (RFC 894), for a host whose VMs are connected by its own bridge only. */
    private static final int ETHERNET = 1500;

    private VlanTrunk() {}

    /** Returns the MTU of VMs' frames on the trunk, in bytes. */
    static int mtu(BridgeConfig bridge) throws IOException {
        String device = bridge.uplink();
        if (device == null) {
            return ETHERNET;
        }
        Path file = Path.of("/sys/class/net", device, "mtu");
        try {
            int mtu = Integer.parseInt(
                    Files.readString(file, StandardCharsets.US_ASCII).strip());
            return NetworkMtu.of(mtu, false, NetworkMtu.Esp.TUNNEL).port();
        } catch (IOException | IllegalArgumentException e) {
            throw new IOException(
                    "bridge.uplink " + device + ": its MTU in " + file + " cannot be used: " + e.getMessage()
                            + "; set bridge.uplink to the trunk's device",
                    e);
        }
    }
}
