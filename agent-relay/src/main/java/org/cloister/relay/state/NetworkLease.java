package org.cloister.relay.state;

import java.util.List;
import org.cloister.base.address.Ipv4Network;

/**
 * Network and addresses that a ticket holds.
 *
 * @param network the VLAN's network
 * @param addresses one for each slot, in their order
 */
public record NetworkLease(int vlan, Ipv4Network network, List<String> addresses) {
    public NetworkLease {
        addresses = List.copyOf(addresses);
    }
}
