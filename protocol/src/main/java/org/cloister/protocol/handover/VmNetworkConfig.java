package org.cloister.protocol.handover;

import org.cloister.protocol.handover.wire.Network;
import org.cloister.protocol.ticket.ProjectAddress;

/**
 * Network configuration of a VM in its project's network.
 *
 * @param address the VM's own
 * @param mac of its interface
 */
public record VmNetworkConfig(
        org.cloister.protocol.ticket.ProjectSubnet network, ProjectAddress address, int mtu, VmMacAddress mac) {
    private static final int LEAST_MTU = 576;
    private static final int MOST_MTU = 9216;

    /** @throws IllegalArgumentException if the address is not one of a VM in the network */
    public VmNetworkConfig {
        HandoverChecks.that(
                address.equals(network.controller()) || network.isForWorkers(address),
                "address",
                "one of a VM in " + network,
                address);
        HandoverChecks.within("MTU", mtu, LEAST_MTU, MOST_MTU);
    }

    static VmNetworkConfig read(Network wire, ProjectAddress address) {
        return new VmNetworkConfig(
                org.cloister.protocol.ticket.ProjectSubnet.parse(wire.getNetwork()),
                address,
                wire.getMtu(),
                new VmMacAddress(wire.getMac()));
    }

    Network wire() {
        return Network.newBuilder()
                .setNetwork(network.toString())
                .setMtu(mtu)
                .setMac(mac.bytes())
                .build();
    }
}
