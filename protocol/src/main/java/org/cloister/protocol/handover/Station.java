package org.cloister.protocol.handover;

import org.cloister.protocol.handover.wire.Network;
import org.cloister.protocol.ticket.Address;

/**
 * How a VM joins its project's network.
 *
 * @param address its own
 * @param mac of its interface
 */
public record Station(org.cloister.protocol.ticket.Network network, Address address, int mtu, Mac mac) {
    private static final int LEAST_MTU = 576;
    private static final int MOST_MTU = 9216;

    /** @throws IllegalArgumentException if the address is none of a VM in the network */
    public Station {
        Require.that(
                address.equals(network.controller()) || network.isForWorkers(address),
                "address",
                "one of a VM in " + network,
                address);
        Require.within("MTU", mtu, LEAST_MTU, MOST_MTU);
    }

    static Station read(Network wire, Address address) {
        return new Station(
                org.cloister.protocol.ticket.Network.parse(wire.getNetwork()),
                address,
                wire.getMtu(),
                new Mac(wire.getMac()));
    }

    Network wire() {
        return Network.newBuilder()
                .setNetwork(network.toString())
                .setMtu(mtu)
                .setMac(mac.bytes())
                .build();
    }
}
