package org.cloister.relay.state;

import java.util.List;

/**
 * What a ticket holds.
 *
 * @param network of the VLAN
 * @param addresses one for each slot, in their order
 */
public record Lease(int vlan, Network network, List<String> addresses) {
    public Lease {
        addresses = List.copyOf(addresses);
    }
}
